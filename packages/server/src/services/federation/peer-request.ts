import { decodeUtf8, type JsonValue, MAX_JSON_DEPTH, parseJson, readBytes } from '@switchboard/protocol'
import type { KnownPeer } from './peers.js'

/** Sends a request to a peer and reads the response as JSON, within limits of time and size. */
export type PeerRequest = (
  peer: Pick<KnownPeer, 'url' | 'source'> & { readonly token?: string | undefined },
  request: PeerRequestOptions,
) => Promise<PeerResponse>

export interface PeerRequestOptions {
  /** Path and query, from the peer's base URL. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent with POST. */
  readonly body?: JsonValue
  readonly signal: AbortSignal
  /** Milliseconds; default: `TIMEOUT_MS`. */
  readonly timeoutMs?: number
  /** Of the response; default: `LIMITS`. */
  readonly limits?: { readonly bytes: number; readonly values: number }
  /** Levels of the response around a document, which may itself be as deep as documents may be; default: 0. */
  readonly depth?: number
}

export interface PeerResponse {
  readonly status: number
  readonly headers: Headers
  /** Undefined if the status is not 200. */
  readonly json: JsonValue | undefined
  /** Size of the body. */
  readonly bytes: number
}

/** Why a peer could not be read, in words for the operator; without anything that the peer sent. */
export class PeerError extends Error {
  override readonly name = 'PeerError'
}

/** Milliseconds for one request, with its response. */
const TIMEOUT_MS = 20_000
/** Bytes and JSON values of one response: parsing it blocks the event loop. */
const LIMITS = { bytes: 4 * 1024 * 1024, values: 200_000 }
/** Characters of the reason why a peer cannot be reached. */
const MAX_REASON = 200

/**
 * @param fetches `open` for addresses that the operator wrote into the config, `guarded` for all others
 */
export function createPeerRequest(fetches: {
  readonly open: typeof fetch
  readonly guarded: typeof fetch
}): PeerRequest {
  return async (peer, { path, headers, body, signal, timeoutMs = TIMEOUT_MS, limits = LIMITS, depth = 0 }) => {
    const fetch = peer.source === 'config' ? fetches.open : fetches.guarded
    let response: Response
    let bytes: Uint8Array
    try {
      response = await fetch(peer.url + path, {
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          accept: 'application/json',
          'user-agent': 'switchboard (federation)',
          ...(peer.token !== undefined && { authorization: `Bearer ${peer.token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual', // the token must go nowhere else
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      })
      if (response.status !== 200) {
        await response.body?.cancel()
        return { status: response.status, headers: response.headers, json: undefined, bytes: 0 }
      }
      bytes = await readBytes(chunksOf(response), limits.bytes, () => tooLarge(limits.bytes))
    } catch (error) {
      throw error instanceof PeerError ? error : new PeerError(reasonOf(error, timeoutMs), { cause: error })
    }
    return {
      status: 200,
      headers: response.headers,
      json: parse(bytes, limits.values, MAX_JSON_DEPTH + depth),
      bytes: bytes.length,
    }
  }
}

/** The text without control characters, which terminals would obey. */
export const printable = (text: string): string => text.replace(/\p{C}/gu, '\ufffd')

async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array, void> {
  if (body) yield* body
}

function parse(bytes: Uint8Array, maxValues: number, maxDepth: number): JsonValue {
  const text = decodeUtf8(bytes)
  if (text === undefined) throw new PeerError('the response is not UTF-8 text')
  try {
    return parseJson(text, { maxValues, maxDepth })
  } catch (cause) {
    throw new PeerError('the response is not valid JSON, or has too many values', { cause })
  }
}

const tooLarge = (bytes: number): PeerError => new PeerError(`the response has more than ${bytes} bytes`)

function reasonOf(error: unknown, timeoutMs: number): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'TimeoutError') return `there was no complete response within ${timeoutMs} ms`
  if (name === 'AbortError') return 'the request was cancelled'
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const [reason = ''] = cause instanceof Error ? cause.message.split('\n') : ['unknown error']
  // It may contain what the peer sent, such as the names in its certificate.
  return `the peer cannot be reached: ${printable(reason.slice(0, MAX_REASON))}`
}
