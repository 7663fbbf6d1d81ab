import { type AgentRecord, isObject, type JsonValue, readRecord, validateDocument } from '@switchboard/protocol'
import type { CancelSignal } from '../../../cancellation.js'
import type { HttpResponse, SendRequest } from '../../http/send-request.js'
import { isSuccess, readJson, sendJson, undefinedIfBad } from '../rpc/send-json.js'
import { withoutTrailingSlashes } from './target.js'

/** A card with more is not that of an agent. */
const CARD_LIMITS = { maxBytes: 1 << 20, maxValues: 20_000 }

/**
 * Fetches the card of an agent: below its endpoint, or at the root of its host (AD-A-01). The agent's credential is not
 * sent, because cards are public. Undefined if there is no valid card.
 */
export async function readCard(
  sendRequest: SendRequest,
  endpoint: string,
  signal: CancelSignal,
): Promise<AgentRecord | undefined> {
  for (const url of cardUrls(endpoint)) {
    const request = { method: 'GET', url, headers: { accept: 'application/json' } } as const
    const card = await readDocument(await sendJson(sendRequest, request, signal))
    // A document that violates the schema of cards is something else, or hostile.
    if (isObject(card) && validateDocument('a2a', card).length === 0) return readRecord('a2a', card, endpoint)
  }
  return undefined
}

/** Undefined if the response is not JSON: some hosts serve an HTML page for unknown paths. */
async function readDocument(response: HttpResponse): Promise<JsonValue | undefined> {
  if (isSuccess(response)) return undefinedIfBad(readJson(response, CARD_LIMITS))
  response.body.cancel()
  return undefined
}

function cardUrls(endpoint: string): string[] {
  const { origin, pathname } = new URL(endpoint)
  if (pathname.endsWith('.json')) return [origin + pathname]
  const base = origin + withoutTrailingSlashes(pathname)
  return [...new Set([`${base}/.well-known/agent-card.json`, `${origin}/.well-known/agent-card.json`])]
}
