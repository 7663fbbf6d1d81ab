import {
  type AddressPolicy,
  ClientError,
  type CustomResolver,
  parseAgentsJson,
  type ResolvedAgent,
  resolveAgent,
} from '@switchboard/client'
import {
  type CatalogEntry,
  isAgentEntry,
  isLoopbackHost,
  isNestedCatalog,
  type JsonObject,
  readCatalog,
  withEntry,
} from '@switchboard/protocol'
import type { BadDocument, FoundDocument } from './read-documents.js'

/** Maximum number of agents that are read from one agents.json or catalog. */
const MAX_AGENTS = 1000

/** Whether an argument is a URL rather than a file. */
export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text)

/** How documents are fetched: which addresses are allowed, and until when. */
export interface ReadOptions {
  readonly allowPrivate: boolean
  readonly signal: AbortSignal
}

/** Allows loopback hosts even without the flag: a loopback URL on the command line is intentional. */
function policyFor(host: string, allowPrivate: boolean): AddressPolicy {
  return allowPrivate || isLoopbackHost(host) ? { allowPrivate: true, httpLoopback: true } : {}
}

/**
 * Fetches the descriptors at a URL: the document if it is one, the agents of a catalog, else all agents of the host's agents.json or
 * ard.json, else the one that the client's resolver finds. The resolver's limits on sizes, addresses and signatures apply.
 */
export async function* crawl(
  text: string,
  { allowPrivate, signal }: ReadOptions,
): AsyncGenerator<FoundDocument | BadDocument> {
  const url = new URL(text)
  const host = `agent://${url.host}`
  const options = { ...policyFor(url.hostname, allowPrivate), allowFallback: false, signal }
  if (CATALOG_PATH.test(url.pathname)) return yield* ofCatalogAt(url, options)
  const isFile = url.pathname.endsWith('.json') && !url.pathname.endsWith('/agents.json')
  if (isFile) {
    const known = { [host]: { descriptor: url.href } }
    return yield found(url.href, await resolveAgent(host, { ...options, static: known }))
  }
  const isHost = url.pathname === '/' || url.pathname.endsWith('/agents.json')
  const index = isHost ? await readIndex(url, options) : undefined
  if (index === undefined) {
    const manifest = new URL('/.well-known/ard.json', url)
    if (isHost && (await fetchDocument(manifest, options))) return yield* ofCatalogAt(manifest, options)
    return yield found(url.href, await resolveAgent(host + url.pathname, options))
  }
  const names = [...parseAgentsJson(index, url.href).keys()]
  if (names.length > MAX_AGENTS) {
    yield { from: url.href, problem: `lists ${names.length} agents; only the first ${MAX_AGENTS} are read` }
  }
  const read = names.slice(0, MAX_AGENTS)
  for (const name of read) {
    const path = name.split('/').map(encodeURIComponent).join('/')
    const from = `${url.origin}/${path}`
    try {
      yield { ...found(from, await resolveAgent(`${host}/${path}`, options)), total: read.length }
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      yield { from, problem: error.message }
    }
  }
}

function found(from: string, { descriptor }: ResolvedAgent): FoundDocument {
  if (descriptor === undefined) throw new ClientError('not_found', `there is no descriptor at ${from}`)
  return { from, document: descriptor }
}

type FetchOptions = AddressPolicy & { readonly signal: AbortSignal }

/** Fetches the host's agents.json. */
const readIndex = (url: URL, options: FetchOptions): Promise<JsonObject | undefined> =>
  fetchDocument(url.pathname.endsWith('.json') ? url : new URL('/.well-known/agents.json', url), options)

/** Fetches a document through the resolver, so that its limits apply. */
async function fetchDocument(url: URL, options: FetchOptions): Promise<JsonObject | undefined> {
  let document: JsonObject | undefined
  const fetchIt: CustomResolver = async (_uri, { fetchJson }) => {
    document = await fetchJson(url.href)
    // Any result ends the resolution, so that nothing else is fetched.
    return { descriptor: { name: 'document', capabilities: [] }, endpoint: url.origin }
  }
  await resolveAgent(`agent://${url.host}`, { ...options, allowFallback: true, resolvers: [fetchIt] })
  return document
}

/** Where sites have the manifest of ARD, or an AI Catalog. */
const CATALOG_PATH = /\/(ard|ai-catalog)\.json$/
/** Catalogs within catalogs. */
const MAX_DEPTH = 4

async function* ofCatalogAt(url: URL, options: FetchOptions, depth = 1): AsyncGenerator<FoundDocument | BadDocument> {
  const document = await fetchDocument(url, options)
  const entries = document && readCatalog(document, url.href)
  if (!entries) return yield { from: url.href, problem: 'is not a catalog' }
  yield* readEntries(entries, url.href, options, depth)
}

/** The documents of a catalog in a file; undefined if it is something else. */
export function ofCatalog(
  document: JsonObject,
  from: string,
  { allowPrivate, signal }: ReadOptions,
): AsyncGenerator<FoundDocument | BadDocument> | undefined {
  const entries = readCatalog(document)
  return entries && readEntries(entries, from, { ...policyFor('', allowPrivate), signal })
}

/**
 * The documents that the entries of a catalog contain or refer to.
 *
 * @param from names the catalog in messages
 */
async function* readEntries(
  entries: readonly CatalogEntry[],
  from: string,
  options: FetchOptions,
  depth = 1,
): AsyncGenerator<FoundDocument | BadDocument> {
  const agents = entries.slice(0, MAX_AGENTS)
  if (entries.length > MAX_AGENTS)
    yield { from, problem: `lists ${entries.length} agents; only the first ${MAX_AGENTS} are read` }
  for (const entry of agents) {
    const place = `${from} ${entry.identifier}`
    try {
      if (isNestedCatalog(entry)) yield* readNested(entry, place, options, depth)
      else if (!isAgentEntry(entry))
        yield { from: place, problem: `is of the type ${entry.type}, which describes no agent` }
      else yield { ...(await readArtifact(entry, place, options)), total: agents.length }
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      yield { from: place, problem: error.message }
    }
  }
}

async function* readNested(
  { url, data }: CatalogEntry,
  from: string,
  options: FetchOptions,
  depth: number,
): AsyncGenerator<FoundDocument | BadDocument> {
  if (depth >= MAX_DEPTH) return yield { from, problem: `is a catalog within ${MAX_DEPTH} others` }
  if (url !== undefined) return yield* ofCatalogAt(new URL(url), options, depth + 1)
  yield* readEntries((data && readCatalog(data)) ?? [], from, options, depth + 1)
}

async function readArtifact(entry: CatalogEntry, from: string, options: FetchOptions): Promise<FoundDocument> {
  const { url, data, identifier } = entry
  const artifact = data ?? (url === undefined ? undefined : await fetchDocument(new URL(url), options))
  if (!artifact) throw new ClientError('not_found', `there is no document at ${url}`)
  return { from, document: withEntry(artifact, entry), id: identifier }
}
