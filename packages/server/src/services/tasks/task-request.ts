import { invalid, isLoopbackHost, isObject, type JsonObject } from '@switchboard/protocol'
import { GatewayError } from '../../gateway/gateway.js'
import type { Seal } from '../identity/seal.js'

/** The stored request of a task: the caller's input and possibly its credential for the agent. */
export interface TaskRequest {
  readonly request: JsonObject
  readonly callbackUrl?: string
}

/** Encrypts the request of a task. */
export const sealRequest = (seal: Seal, id: string, request: TaskRequest): string =>
  seal.close(JSON.stringify(request), bindingOf(id))

/** Decrypts the request of a task; undefined if it was encrypted with a different secret. */
export function openRequest(seal: Seal, id: string, sealed: string): TaskRequest | undefined {
  const text = seal.open(sealed, bindingOf(id))
  const value: unknown = text === undefined ? undefined : JSON.parse(text)
  if (!isObject(value) || !isObject(value.request)) return undefined
  const { request, callbackUrl } = value
  return { request, ...(typeof callbackUrl === 'string' && { callbackUrl }) }
}

/** Binds the encrypted request to its task. */
const bindingOf = (id: string): string => `task ${id}`

/** Most characters of a callback URL. */
const MAX_URL = 2048

/**
 * Throws `invalid_request` for a callback URL that can never be called (C-62): it must use HTTPS, except on loopback, and
 * must not contain an internal IP address. Host names are resolved and checked when the callback is sent.
 */
export function assertCallbackUrl(text: string, checkAddress: (url: URL) => void): void {
  const problem = callbackProblem(text, checkAddress)
  if (problem !== undefined) throw invalid([{ at: 'X-Callback-URL', message: problem }])
}

function callbackProblem(text: string, checkAddress: (url: URL) => void): string | undefined {
  if (text.length > MAX_URL) return `must have at most ${MAX_URL} characters`
  if (!URL.canParse(text)) return 'must be an absolute URL'
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password'
  const isLocal = url.protocol === 'http:' && isLoopbackHost(url.hostname)
  if (url.protocol !== 'https:' && !isLocal) return 'must begin with https://'
  try {
    checkAddress(url)
    return undefined
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return `must lead to a public address: ${error.message}`
  }
}
