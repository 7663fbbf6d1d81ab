import { asString, decodeUtf8 } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { checkAddress } from '../resolve/address-policy.js'
import { createResolver } from '../resolve/create-resolver.js'
import type { ResolverOptions } from '../resolve/options.js'
import { parseDescriptor } from '../resolve/parse-descriptor.js'
import { DEFAULT_LIMITS } from '../transports/call.js'
import { createDeadline } from '../transports/deadline.js'
import { exchange } from '../transports/http/exchange.js'
import { readBody } from '../transports/read-body.js'
import { DEFAULT_RETRY } from '../transports/retry.js'
import type { DirectoryEntry } from './documents.js'

const MAX_CARD_BYTES = 256 * 1024

/** Paths of agents' own descriptions, the newest first (C-46). */
const CARDS = ['/.well-known/agent-card.json', '/.well-known/agent.json']

/**
 * Compares a directory's entry with the card that the agent publishes at its base (AD §8.5): `match` if the card lists
 * every capability of the entry.
 */
export async function verifyAtBase(
  entry: DirectoryEntry,
  options: ResolverOptions = {},
): Promise<'match' | 'mismatch' | 'unreachable'> {
  const base = entry.base ?? ''
  for (const path of CARDS) {
    const text = URL.canParse(path, base) ? await readCard(new URL(path, base).href, options) : undefined
    if (text === undefined) continue
    const { record } = parseDescriptor(text, base)
    const published = new Set(record.capabilities.map(({ name }) => name))
    return entry.capabilities.every(({ name }) => published.has(name)) ? 'match' : 'mismatch'
  }
  return 'unreachable'
}

/**
 * Verifies the identity that an entry claims (AD §4.1): `verified` if the DID document names an endpoint at the origin
 * of the agent's base, `unknown` for identities other than DIDs.
 */
export async function verifyIdentity(
  entry: DirectoryEntry,
  options: ResolverOptions = {},
): Promise<'verified' | 'unverified' | 'unknown'> {
  const { identity, identity_type: type } = entry.document
  const did = asString(identity)
  if (type !== 'did' || did === undefined) return 'unknown'
  try {
    const resolved = await createResolver({ ...options, allowFallback: false }).resolveAgent(`agent://${did}`)
    const origins = resolved.endpoints.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url).origin] : []))
    const own = entry.base !== undefined && URL.canParse(entry.base) ? new URL(entry.base).origin : undefined
    return own !== undefined && origins.includes(own) ? 'verified' : 'unverified'
  } catch (error) {
    if (error instanceof ClientError) return 'unverified'
    throw error
  }
}

async function readCard(url: string, options: ResolverOptions): Promise<string | undefined> {
  const deadline = createDeadline(options.timeoutMs ?? DEFAULT_LIMITS.timeoutMs, `reading ${url}`)
  const fetch: typeof globalThis.fetch = options.fetch ?? ((input, init) => globalThis.fetch(input, init))
  const request = { method: 'GET', url, headers: { accept: 'application/json' }, isRepeatable: true }
  try {
    checkAddress(url, options)
    const response = await exchange({ fetch, retry: DEFAULT_RETRY }, request, deadline)
    return decodeUtf8(await readBody(response.body, MAX_CARD_BYTES, deadline))
  } catch (error) {
    if (error instanceof ClientError) return undefined
    throw error
  } finally {
    deadline.clear()
  }
}
