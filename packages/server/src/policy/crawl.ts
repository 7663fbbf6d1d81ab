import {
  asObjects,
  asString,
  type DocumentFormat,
  isLoopbackHost,
  isObject,
  type JsonObject,
  type JsonValue,
  parseIpAddress,
} from '@switchboard/protocol'
import { originOfId } from './id-origin.js'

/** Where a host publishes its agents, in the order of C-46, then catalogs. To read further kinds of documents, add their paths. */
export const WELL_KNOWN_PATHS = [
  '/.well-known/agent-card.json',
  '/.well-known/agent.json',
  '/.well-known/agents.json',
  '/.well-known/ard.json',
  '/.well-known/ai-catalog.json',
] as const

/** Characters of a URL that is crawled; robots.txt patterns are compared with it. */
const MAX_URL_LENGTH = 512

/**
 * The URL that a caller or the operator wants to be crawled, in one spelling; a host may be given without a scheme. Throws
 * TypeError with what is wrong.
 *
 * @param httpLoopback for development: sites on this machine may do without TLS
 */
export function parseSiteUrl(text: string, httpLoopback: boolean): URL {
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`
  if (!URL.canParse(full)) throw new TypeError('must be a URL or a host name')
  const url = new URL(full)
  url.hash = ''
  if (url.href.length > MAX_URL_LENGTH) throw new TypeError(`must not be longer than ${MAX_URL_LENGTH} characters`)
  if (url.username !== '' || url.password !== '') throw new TypeError('must not contain a user name or password')
  const problem = ownerProblem(url, httpLoopback)
  if (problem !== undefined) throw new TypeError(problem)
  return url
}

/** Why the site of a URL cannot own agents: nothing proves who serves it. */
function ownerProblem({ protocol, hostname }: URL, httpLoopback: boolean): string | undefined {
  if (isLoopbackHost(hostname))
    return httpLoopback ? undefined : 'must not name this machine: that is allowed only in development'
  if (protocol !== 'https:') return 'must start with https://'
  return parseIpAddress(hostname) ? 'must name a host: an IP address cannot own agents' : undefined
}

/** Whether the site's URL names a host, whose well-known paths are tried, rather than a document. */
export const isHost = ({ pathname, search }: URL): boolean => pathname === '/' && search === ''

/** Only whoever controls the host can publish there; other paths of a host may belong to its users. */
export const isWellKnown = ({ pathname }: URL): boolean => pathname.startsWith('/.well-known/')

/** How long agents of a site stay without being seen again, in intervals. */
const LIFETIME_INTERVALS = 3
const MIN_LIFETIME_SECONDS = 60

/** Seconds that an agent stays listed after it was seen, and milliseconds between visits, which must be shorter. */
export function crawlTimes(intervalSeconds: number, maxLifetime: number): { lifetime: number; intervalMs: number } {
  const lifetime = Math.min(Math.max(LIFETIME_INTERVALS * intervalSeconds, MIN_LIFETIME_SECONDS), maxLifetime)
  return { lifetime, intervalMs: Math.min(intervalSeconds, lifetime / 2) * 1000 }
}

const FIRST_RETRY_MS = 60_000
/** Share by which waiting times vary, so that sites are not visited in lockstep. */
const JITTER = 0.1

/**
 * Milliseconds until the next visit: the interval, or after failures a time that doubles up to the interval. What the host
 * asks for in Retry-After is honoured, up to a week.
 *
 * @param random from 0 to 1
 */
export function nextVisit(failures: number, retryAfterMs: number, intervalMs: number, random: number): number {
  const jitter = 1 + JITTER * (2 * random - 1)
  const wait = failures === 0 ? intervalMs : Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20), intervalMs)
  return Math.max(wait * jitter, Math.min(retryAfterMs, WEEK_MS))
}

const WEEK_MS = 7 * 86_400_000

/**
 * The id of an agent that was found at a URL: the one that its document states, else the URL. Undefined if it states an
 * id of another domain, which the site cannot speak for.
 */
export function idOfFound(
  format: DocumentFormat,
  document: JsonObject,
  { url, owner, httpLoopback }: { url: string; owner: string; httpLoopback: boolean },
): string | undefined {
  const id = asString(format === 'mcp' ? document.name : document.id) ?? url
  const origin = originOfId(id, httpLoopback)
  return origin && origin.origin !== owner ? undefined : id
}

/** Members with addresses, at the top level of a document and in its lists. */
const ADDRESS_MEMBERS = ['endpoint', 'url', 'base']
const ADDRESS_LISTS = ['bindings', 'operations', 'supportedInterfaces', 'additionalInterfaces', 'remotes']

/** The document with absolute addresses: relative ones are relative to where it was found (C-18). */
export function withAbsoluteAddresses(document: JsonObject, url: string): JsonObject {
  const { transport } = document
  const lists = ADDRESS_LISTS.filter((name) => Array.isArray(document[name]))
  return {
    ...absoluteMembers(document, ADDRESS_MEMBERS, url),
    ...Object.fromEntries(lists.map((name) => [name, absoluteItems(document[name], url)])),
    ...(isObject(transport) && { transport: absoluteMembers(transport, Object.keys(transport), url) }),
  }
}

/** Whether a relative address would have to be changed in a document whose signature covers it. */
export const hasSignature = ({ signature, signatures }: JsonObject): boolean =>
  isObject(signature) || asObjects(signatures).length > 0

const absoluteItems = (list: JsonValue | undefined, url: string): JsonValue[] =>
  (Array.isArray(list) ? list : []).map((item) => (isObject(item) ? absoluteMembers(item, ADDRESS_MEMBERS, url) : item))

function absoluteMembers(object: JsonObject, names: readonly string[], url: string): JsonObject {
  const changed = names.flatMap((name): [string, string][] => {
    const value = object[name]
    const isRelative = typeof value === 'string' && value !== '' && !/^[a-z][a-z0-9+.-]*:/i.test(value)
    return isRelative && URL.canParse(value, url) ? [[name, new URL(value, url).href]] : []
  })
  return changed.length === 0 ? object : { ...object, ...Object.fromEntries(changed) }
}
