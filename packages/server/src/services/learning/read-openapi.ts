import {
  asObjects,
  asString,
  DirectoryError,
  fromOpenApi,
  isObject,
  isOpenApi,
  type JsonObject,
  type Operation,
  readRecord,
  validateDocument,
} from '@switchboard/protocol'
import type { SendRequest } from '../../gateway/http/send-request.js'
import { isSuccess, readJson, sendJson, undefinedIfBad } from '../../gateway/transports/rpc/send-json.js'

/** OpenAPI documents are larger than what becomes of them. */
const LIMITS = { maxBytes: 2 << 20, maxValues: 100_000 }

/**
 * Reads the operations of an API from its OpenAPI document: the endpoint itself if it ends in `.json`, or else
 * `openapi.json` below it or at the root of its host. Undefined if there is none that can be used.
 */
export async function readOpenApi(
  sendRequest: SendRequest,
  endpoint: string,
  signal: AbortSignal,
): Promise<readonly Operation[] | undefined> {
  for (const url of documentUrls(endpoint)) {
    const request = { method: 'GET', url, headers: { accept: 'application/json' } } as const
    const response = await sendJson(sendRequest, request, signal)
    if (!isSuccess(response)) {
      response.body.cancel()
      continue
    }
    const document = await undefinedIfBad(readJson(response, LIMITS))
    if (isObject(document) && isOpenApi(document)) return operationsOf(document, url)
  }
  return undefined
}

function documentUrls(endpoint: string): string[] {
  const { origin, pathname } = new URL(endpoint)
  if (pathname.endsWith('.json')) return [origin + pathname]
  return [...new Set([`${origin}${pathname.replace(/\/+$/, '')}/openapi.json`, `${origin}/openapi.json`])]
}

function operationsOf(document: JsonObject, url: string): readonly Operation[] | undefined {
  const [server] = asObjects(document.servers)
  const base = new URL(asString(server?.url) ?? '/', url)
  // Credentials for the agent may only go to its registered origin, whatever the document says.
  if (base.origin !== new URL(url).origin) return undefined
  try {
    const metadata = fromOpenApi({ ...document, servers: [{ ...server, url: base.href }] })
    const { endpoint } = metadata
    if (typeof endpoint !== 'string' || new URL(endpoint).origin !== base.origin) return undefined
    if (validateDocument('aidip', metadata).length > 0) return undefined
    return readRecord('aidip', metadata, '').operations.map((operation) => ({ ...operation, endpoint }))
  } catch (error) {
    // It has nothing that can be called, or too much.
    if (error instanceof DirectoryError || error instanceof TypeError) return undefined
    throw error
  }
}
