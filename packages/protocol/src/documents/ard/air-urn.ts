import { isLoopbackHost, parseIpAddress } from '../../addresses.js'

/** An identifier of Agentic Resource Discovery: `urn:air:<publisher>:<namespace>:<name>` (ARD 0.91, appendix C). */
export interface AirUrn {
  /** Domain name of whoever publishes the entry. */
  readonly publisher: string
  /** The segments after the publisher; the last one is the name. */
  readonly segments: readonly string[]
}

const PATTERN = /^urn:air:([a-zA-Z0-9.-]+)((?::[a-zA-Z0-9._-]+)+)$/
/** Characters of an identifier: an id of 512 characters can be several times as long when it is escaped. */
const MAX_LENGTH = 8192

/** Reads an identifier; undefined if the text is not one. */
export function parseAirUrn(text: string): AirUrn | undefined {
  const [, publisher, rest] = (text.length <= MAX_LENGTH && PATTERN.exec(text)) || []
  return publisher === undefined || rest === undefined ? undefined : { publisher, segments: rest.slice(1).split(':') }
}

/** Stands for a directory that has no domain name, as the naming guide of ARD recommends for local use. */
const LOCAL_PUBLISHER = 'agent.localhost'

/** The last answer: filters ask for the same directory again and again, and parsing a URL takes a while. */
let last: { readonly url: string; readonly publisher: string } | undefined

/** The domain that publishes what is served at a URL. */
export function publisherOf(url: string): string {
  if (last?.url !== url) last = { url, publisher: readPublisher(url) }
  return last.publisher
}

function readPublisher(url: string): string {
  const hostname = URL.canParse(url) ? new URL(url).hostname : ''
  const isDomain = /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(hostname) && !isLoopbackHost(hostname)
  return isDomain && !parseIpAddress(hostname) ? hostname : LOCAL_PUBLISHER
}

/** Namespace of the agents of a directory. */
const AGENTS = 'agent'

/** The identifier that a directory gives to an agent with this id. Different ids have different identifiers. */
export const airUrnOf = (publisher: string, id: string): string => `urn:air:${publisher}:${AGENTS}:${escapeId(id)}`

/** The id that `airUrnOf` was given, whatever the publisher; undefined if it did not write the identifier. */
export function idOfAirUrn({ segments: [namespace, ...rest] }: AirUrn): string | undefined {
  return namespace === AGENTS && rest.length > 0 ? unescapeId(rest.join(':')) : undefined
}

/**
 * An id as segments of an identifier. A single slash separates segments; every other character that a segment cannot contain
 * becomes its UTF-8 bytes as `_xHH`.
 */
function escapeId(id: string): string {
  return id
    .replaceAll(/_(?=x[0-9a-f]{2})|[^\w./-]+/g, (text) => escapeBytes(text))
    .replaceAll(/^\/|\/$|\/{2,}/g, (text) => escapeBytes(text))
    .replaceAll('/', ':')
}

const escapeBytes = (text: string): string =>
  Array.from(new TextEncoder().encode(text), (byte) => `_x${byte.toString(16).padStart(2, '0')}`).join('')

function unescapeId(text: string): string | undefined {
  const bytes = text.replaceAll(':', '/').replaceAll(/_x([0-9a-f]{2})/g, '%$1')
  try {
    return decodeURIComponent(bytes)
  } catch (error) {
    // Bytes that are not UTF-8.
    if (error instanceof URIError) return undefined
    throw error
  }
}
