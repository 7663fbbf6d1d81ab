import {
  type CatalogEntry,
  DirectoryError,
  type IndexedAgent,
  isObject,
  type JsonObject,
  ownIdentifier,
  parseDocumentBody,
  readAgentsIndex,
  readCatalog,
  withEntry,
} from '@switchboard/protocol'
import { isHost, isWellKnown, parseSiteUrl, WELL_KNOWN_PATHS } from '../../policy/crawl.js'
import { expandCatalog } from './expand-catalog.js'
import type { Page, SendPolitely, Validators } from './send-politely.js'
import type { Site } from './site.js'

/** What was found at one place of a site. */
export type Found =
  | {
      readonly kind: 'document'
      /** Identifies the document. */
      readonly url: string
      /** Where it was served from, after redirects: the base of its relative addresses. */
      readonly base: string
      readonly document: JsonObject
      /** The id that a catalog of the host assigns; default: that of the document. */
      readonly id?: string | undefined
      readonly validators: Validators
      /** Published by whoever controls the host, not by one of its users. */
      readonly isVouched: boolean
    }
  | { readonly kind: 'unchanged'; readonly url: string }
  | {
      readonly kind: 'missing' | 'gone' | 'invalid' | 'skipped'
      readonly url: string
      readonly reason: string
    }
  | { readonly kind: 'failed'; readonly url: string; readonly reason: string; readonly retryAfterMs: number }

/** How a visit to a site ended. */
export type SiteOutcome =
  | { readonly kind: 'read'; readonly index?: Site['index'] }
  /** There is nothing that may be read. */
  | { readonly kind: 'absent'; readonly reason: string; readonly isRefused: boolean }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number }

export interface ReadSiteOptions {
  readonly site: Site
  readonly send: SendPolitely
  /** The validators of a document whose agent is still listed. */
  readonly validatorsOf: (url: string) => Validators | undefined
  readonly maxAgents: number
  readonly httpLoopback: boolean
  readonly signal: AbortSignal
  readonly onFound: (found: Found) => Promise<void>
}

/** JSON values of a document or a list of agents. */
const MAX_VALUES = 50_000
/** Documents that may fail one after another before the rest of a list is left for another time. */
const MAX_FAILURES = 3

/** Reads the documents of a site, one after another. A list of agents leads to one document for each of them. */
export async function readSite(options: ReadSiteOptions): Promise<SiteOutcome> {
  const { site, send, validatorsOf, signal, onFound } = options
  const url = new URL(site.url)
  const places = isHost(url) ? WELL_KNOWN_PATHS.map((path) => new URL(path, url)) : [url]
  const reasons = new Set<string>()
  let isRefused = false
  for (const place of places) {
    const isIndex = site.index?.url === place.href
    const page = await send(place, (isIndex ? site.index : validatorsOf(place.href)) ?? {}, signal)
    switch (page.kind) {
      case 'failed':
        return page
      case 'refused':
        isRefused = true
        reasons.add(page.reason)
        break
      case 'missing':
      case 'gone':
        reasons.add(page.reason)
        // The paths that a host never had are not worth mentioning.
        if (site.pages.some(({ url, agent }) => url === place.href && agent !== undefined))
          await onFound({ kind: page.kind, url: place.href, reason: page.reason })
        break
      case 'unchanged':
        if (isIndex && site.index) return readListed(options, entriesOf(site), site.index)
        await onFound({ kind: 'unchanged', url: place.href })
        return { kind: 'read' }
      case 'read':
        return readPage(options, place, page)
    }
  }
  return { kind: 'absent', reason: [...reasons].join('; '), isRefused }
}

async function readPage(
  options: ReadSiteOptions,
  place: URL,
  page: Extract<Page, { kind: 'read' }>,
): Promise<SiteOutcome> {
  const { url: base, validators } = page
  // Whoever can redirect a path of a host does not necessarily speak for it; the host that serves the document does.
  const url = base.origin === place.origin ? place : base
  const document = parsePage(page)
  if (typeof document === 'string') {
    await options.onFound({ kind: 'invalid', url: url.href, reason: document })
    return { kind: 'read' }
  }
  const catalog = readCatalog(document, base.href)
  if (catalog) {
    const mayRead = (text: string): boolean => isReadable(text, base, options.httpLoopback)
    const agents = await expandCatalog(catalog, { ...options, base, mayRead, parse: parsePage })
    const listed = agents.map(({ entry, problem }) => toCatalogued(entry, problem, base, mayRead))
    // Without validators: what an entry says about its artifact is needed whenever the artifact is read.
    const outcome = await readListed(options, listed, { url: url.href })
    return outcome.kind === 'read' ? { kind: 'read' } : outcome
  }
  const index = readAgentsIndex(document, base.href)
  if (!index) {
    await options.onFound(toDocument(url.href, base.href, document, validators, isWellKnown(url)))
    return { kind: 'read' }
  }
  const entries = new Map(
    Array.from(index.values(), (entry) => {
      const listed = toListed(entry, base, options.httpLoopback)
      return [listed.url, listed]
    }),
  )
  return readListed(options, [...entries.values()], { url: url.href, ...validators })
}

/** An entry of a list of agents: a document to read, one that the list contains, or neither. */
interface Listed {
  readonly url: string
  readonly isRead: boolean
  readonly embedded?: JsonObject
  readonly problem?: string
  /** The entry of a catalog that it comes from. */
  readonly entry?: CatalogEntry
}

function toCatalogued(
  entry: CatalogEntry,
  problem: string | undefined,
  base: URL,
  mayRead: (url: string) => boolean,
): Listed {
  const { identifier, url, data } = entry
  const place = `${base.href}#${encodeURIComponent(identifier.toWellFormed())}`
  if (problem !== undefined) return { url: place, isRead: false, problem }
  if (data) return { url: place, isRead: false, embedded: data, entry }
  if (url !== undefined && mayRead(url)) return { url, isRead: true, entry }
  return { url: place, isRead: false, problem: ELSEWHERE }
}

const ELSEWHERE = 'is not a URL of this host: it has to be crawled by itself'

function toListed({ name, url, embedded }: IndexedAgent, index: URL, httpLoopback: boolean): Listed {
  if (url !== undefined && isReadable(url, index, httpLoopback)) {
    return { url, isRead: true, ...(embedded && { embedded }) }
  }
  const place = `${index.href}#${encodeURIComponent(name.toWellFormed())}`
  if (embedded) return { url: place, isRead: false, embedded }
  return { url: place, isRead: false, problem: ELSEWHERE }
}

/** A site speaks for its own host only: documents elsewhere belong to others. */
function isReadable(text: string, index: URL, httpLoopback: boolean): boolean {
  try {
    return parseSiteUrl(text, httpLoopback).origin === index.origin
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  }
}

/** The entries of a list that has not changed; documents that it contains have not changed either. */
const entriesOf = ({ pages }: Site): Listed[] =>
  pages.filter(({ agent }) => agent !== undefined).map(({ url }) => ({ url, isRead: !url.includes('#') }))

async function readListed(
  options: ReadSiteOptions,
  entries: readonly Listed[],
  index: NonNullable<Site['index']>,
): Promise<SiteOutcome> {
  const { maxAgents, onFound } = options
  let failures = 0
  for (const entry of entries.slice(0, maxAgents)) {
    const found = await readEntry(options, entry, index.url)
    if (found.kind !== 'failed') {
      failures = 0
      await onFound(found)
      continue
    }
    if (found.retryAfterMs > 0 || ++failures >= MAX_FAILURES) return found
    await onFound(found)
  }
  if (entries.length <= maxAgents) return { kind: 'read', index }
  const reason = `lists ${entries.length} agents; only the first ${maxAgents} are read`
  await onFound({ kind: 'skipped', url: index.url, reason })
  // Without validators, so that it is read again: the list may have become shorter.
  return { kind: 'read' }
}

async function readEntry(
  { send, validatorsOf, signal }: ReadSiteOptions,
  { url, isRead, embedded, problem, entry }: Listed,
  index: string,
): Promise<Found> {
  // Whoever publishes the list vouches for its entries.
  const isVouched = isWellKnown(new URL(index))
  if (problem !== undefined) return { kind: 'skipped', url, reason: problem }
  const contained = embedded && toDocument(url, index, embedded, {}, isVouched, entry)
  if (!isRead) return contained ?? { kind: 'unchanged', url }
  const page = await send(new URL(url), validatorsOf(url) ?? {}, signal)
  switch (page.kind) {
    case 'failed':
      return { ...page, url }
    case 'unchanged':
      return { kind: 'unchanged', url }
    case 'gone':
      return { kind: 'gone', url, reason: page.reason }
    case 'missing':
      return contained ?? { kind: 'missing', url, reason: page.reason }
    case 'refused':
      return { kind: 'missing', url, reason: page.reason }
    case 'read': {
      const document = parsePage(page)
      if (typeof document === 'string') return { kind: 'invalid', url, reason: document }
      if (page.url.origin !== new URL(url).origin) {
        return { kind: 'skipped', url, reason: 'leads to another host: it has to be crawled by itself' }
      }
      return toDocument(url, page.url.href, document, page.validators, isVouched, entry)
    }
  }
}

const toDocument = (
  url: string,
  base: string,
  document: JsonObject,
  validators: Validators,
  isVouched: boolean,
  entry?: CatalogEntry,
): Found => ({
  kind: 'document',
  url,
  base,
  document: entry ? withEntry(document, entry) : document,
  // A user of a host cannot assign identifiers for all of it.
  id: entry && isVouched ? ownIdentifier(entry, new URL(url).hostname) : undefined,
  validators,
  isVouched,
})

/** The object in a page, or why there is none. */
function parsePage({ bytes }: { readonly bytes: Uint8Array }): JsonObject | string {
  try {
    const value = parseDocumentBody(bytes, { maxValues: MAX_VALUES })
    return isObject(value) ? value : 'is not a JSON object'
  } catch (error) {
    if (error instanceof DirectoryError) return error.message
    throw error
  }
}
