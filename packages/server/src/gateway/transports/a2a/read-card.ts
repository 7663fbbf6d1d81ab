import { type AgentRecord, isObject, type JsonValue, readRecord, validateDocument } from '@switchboard/protocol'
import { GatewayError } from '../../gateway.js'
import { type Ask, type Asked, askJson, isSuccess, readJson } from '../rpc/ask.js'
import { withoutSlashes } from './target.js'

const MAX_CARD_BYTES = 1 << 20

/**
 * The card of an agent of which only an address is known: below that address, or at the root of its host (AD-A-01).
 * Read without the agent's credential: a card is public. Undefined if there is none.
 */
export async function readCard(ask: Ask, endpoint: string, signal: AbortSignal): Promise<AgentRecord | undefined> {
  for (const url of cardUrls(endpoint)) {
    const answer = await askJson(ask, { method: 'GET', url, headers: { accept: 'application/json' } }, signal)
    const card = await readDocument(answer)
    // What breaks the schema of cards is somebody else's document, or a hostile one.
    if (isObject(card) && validateDocument('a2a', card).length === 0) return readRecord('a2a', card, endpoint)
  }
  return undefined
}

/** Hosts answer unknown paths with pages; such a page is no card, and no reason to stop looking. */
async function readDocument(answer: Asked): Promise<JsonValue | undefined> {
  if (!isSuccess(answer)) {
    answer.body.cancel()
    return undefined
  }
  try {
    return await readJson(answer, MAX_CARD_BYTES)
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'bad_response') return undefined
    throw error
  }
}

function cardUrls(endpoint: string): string[] {
  const { origin, pathname } = new URL(endpoint)
  if (pathname.endsWith('.json')) return [origin + pathname]
  const base = origin + withoutSlashes(pathname)
  return [...new Set([`${base}/.well-known/agent-card.json`, `${origin}/.well-known/agent-card.json`])]
}
