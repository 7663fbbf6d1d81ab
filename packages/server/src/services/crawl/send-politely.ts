import { setTimeout as sleep } from 'node:timers/promises'
import { isLoopbackHost, readBytes, readRetryAfter } from '@switchboard/protocol'
import { LRUCache } from 'lru-cache'
import { GatewayError } from '../../gateway/gateway.js'
import { sendOverFetch } from '../../gateway/http/send-over-fetch.js'
import { withTimeout } from '../../gateway/resilience/with-timeout.js'
import { ALLOWS_ALL, MAX_ROBOTS_BYTES, parseRobots, type Robots } from '../../policy/robots.js'
import { createKeyedMutex } from '../registry/keyed-mutex.js'

/** What a host said about a document when it was read, to ask later whether it has changed. */
export interface Validators {
  readonly etag?: string
  readonly lastModified?: string
}

/** The answer of a site to one request. */
export type Page =
  | { readonly kind: 'read'; readonly url: URL; readonly bytes: Uint8Array; readonly validators: Validators }
  /** Not modified since the validators. */
  | { readonly kind: 'unchanged'; readonly url: URL }
  /** `gone`: the host says that it will not come back. */
  | { readonly kind: 'missing' | 'gone'; readonly reason: string }
  /** By robots.txt, or by the address guard. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It may succeed later. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number }

/** Reads one document, once its host may be visited. Follows redirects; each one is checked like the first URL. */
export type SendPolitely = (url: URL, validators: Validators, signal: AbortSignal) => Promise<Page>

export interface SendPolitelyOptions {
  /** Guarded against internal addresses. */
  readonly fetch: typeof fetch
  /** The name by which robots.txt files know us, and the whole User-Agent. */
  readonly product: string
  readonly userAgent: () => string
  /** Milliseconds between two requests to one host; a host may ask for more in its robots.txt. */
  readonly pauseMs: number
  readonly now: () => number
  readonly monotonic: () => number
}

/** Bytes of a document or a list of agents. */
const MAX_BYTES = 1024 * 1024
const TIMEOUT_MS = 10_000
const MAX_REDIRECTS = 5
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
/** Milliseconds that the pauses of a host may last at most: its agents could not be refreshed in time otherwise. */
const MAX_PAUSE_MS = 30_000
/** Milliseconds for which a robots.txt is used (RFC 9309 §2.4). */
const ROBOTS_MS = 86_400_000
/** Characters of all robots.txt that are kept. */
const MAX_ROBOTS_KEPT = 16 * 1024 * 1024
const MAX_HOSTS = 10_000

interface KnownRobots {
  readonly robots: Robots
  readonly at: number
  readonly size: number
}

/** One request at a time to each host, with a pause in between, and only where its robots.txt allows it (RFC 9309). */
export function createSendPolitely(options: SendPolitelyOptions): SendPolitely {
  const { product, userAgent, pauseMs, now, monotonic } = options
  const send = sendOverFetch(options.fetch, 'manual')
  const mutex = createKeyedMutex()
  const visitedAt = new LRUCache<string, number>({ max: MAX_HOSTS })
  const known = new LRUCache<string, KnownRobots>({
    maxSize: MAX_ROBOTS_KEPT,
    sizeCalculation: ({ size }) => size,
  })

  /** When the host is free, sends one request; the body is cut after the limit. */
  const visit = (url: URL, headers: Record<string, string>, maxBytes: number, signal: AbortSignal): Promise<Answer> =>
    mutex.run(url.host, async () => {
      const pause = Math.max(pauseMs, Math.min(known.get(url.origin)?.robots.delayMs ?? 0, MAX_PAUSE_MS))
      const left = (visitedAt.get(url.host) ?? Number.NEGATIVE_INFINITY) + pause - monotonic()
      if (left > 0) await sleep(left, undefined, { signal })
      try {
        return await withTimeout(TIMEOUT_MS, async (timeout) => {
          const all = { accept: 'application/json, */*;q=0.5', 'user-agent': userAgent(), ...headers }
          const limit = AbortSignal.any([signal, timeout])
          const response = await send({ url, method: 'GET', headers: all, signal: limit })
          const isRead = response.status === 200
          if (!isRead) response.body.cancel()
          const bytes = isRead ? await readUpTo(response.body, maxBytes) : new Uint8Array()
          return { status: response.status, headers: response.headers, bytes }
        })
      } finally {
        visitedAt.set(url.host, monotonic())
      }
    })

  /** Follows redirects as long as `check` has nothing against the next URL. */
  const follow = async (
    start: URL,
    headers: Record<string, string>,
    maxBytes: number,
    signal: AbortSignal,
    check: (url: URL) => Promise<Page | undefined>,
  ): Promise<(Answer & { url: URL }) | Page> => {
    let url = start
    for (let i = 0; i <= MAX_REDIRECTS; i++) {
      const objection = await check(url)
      if (objection) return objection
      const answer = await visit(url, headers, maxBytes, signal)
      const { location } = answer.headers
      if (!REDIRECTS.has(answer.status) || location === undefined) return { ...answer, url }
      const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined
      if (!next || !isRedirectAllowed(url, next))
        return refused(`${url.href} redirects to an address that is not allowed`)
      next.hash = ''
      url = next
    }
    return { kind: 'failed', reason: `${start.href} has more than ${MAX_REDIRECTS} redirects`, retryAfterMs: 0 }
  }

  /** A failure means that nothing may be read (RFC 9309 §2.3.1.4). */
  const robotsOf = async ({ origin }: URL, signal: AbortSignal): Promise<Robots | Page> => {
    const cached = known.get(origin)
    if (cached && monotonic() - cached.at < ROBOTS_MS) return cached.robots
    const answer = await follow(new URL('/robots.txt', origin), {}, MAX_ROBOTS_BYTES, signal, async () => undefined)
    if ('kind' in answer) return answer
    if (isTemporary(answer)) return toPage(answer, now)
    const text = answer.status === 200 ? new TextDecoder().decode(answer.bytes.subarray(0, MAX_ROBOTS_BYTES)) : ''
    const robots = text === '' ? ALLOWS_ALL : parseRobots(text, product)
    known.set(origin, { robots, at: monotonic(), size: text.length + 1 })
    return robots
  }

  const checkRobots = async (url: URL, signal: AbortSignal): Promise<Page | undefined> => {
    const robots = await robotsOf(url, signal)
    if ('kind' in robots) return robots
    if (robots.isAllowed(url.pathname + url.search)) return undefined
    return refused(`the robots.txt of ${url.host} does not allow ${product} to read ${url.pathname}`)
  }

  return async (start, { etag, lastModified }, signal) => {
    const conditions = {
      ...(etag !== undefined && { 'if-none-match': etag }),
      ...(lastModified !== undefined && { 'if-modified-since': lastModified }),
    }
    try {
      const answer = await follow(start, conditions, MAX_BYTES + 1, signal, (url) => checkRobots(url, signal))
      return 'kind' in answer ? answer : toPage(answer, now)
    } catch (error) {
      if (signal.aborted || !(error instanceof GatewayError)) throw error
      if (error.code === 'blocked' || error.code === 'loop') return refused(error.message)
      return { kind: 'failed', reason: `${start.href} cannot be read: ${error.message}`, retryAfterMs: 0 }
    }
  }
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly bytes: Uint8Array
}

const refused = (reason: string): Page => ({ kind: 'refused', reason })

/** A site must not lead to services on this machine, which development mode allows, or to an unencrypted host. */
const isRedirectAllowed = (from: URL, to: URL): boolean =>
  (to.protocol === 'https:' || isLoopbackHost(to.hostname)) &&
  to.username === '' &&
  (isLoopbackHost(from.hostname) || !isLoopbackHost(to.hostname))

const isTemporary = ({ status }: Pick<Answer, 'status'>): boolean => status === 429 || status >= 500

function toPage({ status, headers, bytes, url }: Answer & { url: URL }, now: () => number): Page {
  const reason = `${url.href} returned status ${status}`
  if (status === 304) return { kind: 'unchanged', url }
  if (status === 410) return { kind: 'gone', reason }
  if (isTemporary({ status }))
    return { kind: 'failed', reason, retryAfterMs: (readRetryAfter(headers['retry-after'], now) ?? 0) * 1000 }
  if (status !== 200) return { kind: 'missing', reason }
  if (bytes.byteLength > MAX_BYTES) return { kind: 'missing', reason: `${url.href} has more than ${MAX_BYTES} bytes` }
  const { etag, 'last-modified': lastModified } = headers
  const validators = { ...(isShort(etag) && { etag }), ...(isShort(lastModified) && { lastModified }) }
  return { kind: 'read', url, bytes, validators }
}

/** Characters of a validator; longer ones are not worth keeping. */
const MAX_VALIDATOR = 200
const isShort = (text: string | undefined): text is string => text !== undefined && text.length <= MAX_VALIDATOR

/** The first bytes of a body: what is longer is not read to its end. */
async function readUpTo(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  async function* cut(): AsyncGenerator<Uint8Array> {
    let left = maxBytes
    for await (const chunk of body) {
      yield chunk.subarray(0, left)
      left -= chunk.byteLength
      if (left <= 0) return
    }
  }
  return readBytes(cut(), maxBytes, () => new RangeError('cut to the limit'))
}
