import type { AgentUri } from '@switchboard/agent-uri'
import { ClientError } from '../errors.js'
import { descriptorUrls, resolveDid } from './did-resolution.js'
import type { DidMethod } from './options.js'
import { type AgentsIndex, type IndexedAgent, parseAgentsJson } from './parse-agents-json.js'
import { type Descriptor, isDescriptor, parseDescriptor, readDescriptor } from './parse-descriptor.js'
import { type Resolution, readObject } from './resolution.js'
import { longestKey, originOf, segmentsOf } from './uri-path.js'

/** An agent that was found, and the rest of the URI's path. */
export interface FoundAgent {
  readonly descriptor: Descriptor
  /** Its name in agents.json. */
  readonly name?: string
  readonly rest: readonly string[]
}

/** Folders of a path in which agent.json is tried; of a deeper path, the deepest one and those near the root. */
const MAX_LEVELS = 12

/** Where to look for an agent instead of at its host. */
export interface OtherPlace {
  readonly origin: string
  /** Whether the first segment of the path has led to this place, so that it does not belong to the capability. */
  readonly isNamed: boolean
}

/**
 * Finds the descriptor of an agent on its host, in the order of AURI §6.2 and C-85: the agents.json of the host, the
 * agent.json of the path and of each folder above it, then the well-known paths.
 */
export async function findOnHost(
  uri: AgentUri,
  resolution: Resolution,
  other?: OtherPlace,
): Promise<FoundAgent | undefined> {
  const origin = other?.origin ?? originOf(uri, resolution.policy)
  const segments = segmentsOf(uri.path)
  const below = other?.isNamed ? segments.slice(1) : segments
  const indexed = await findInIndex(origin, segments, resolution)
  if (indexed) return indexed

  for (const { path, rest } of foldersOf(segments, resolution)) {
    const descriptor = await tryDescriptor(`${origin}${path}/agent.json`, resolution)
    if (descriptor) return { descriptor, rest: path === '' ? below : rest }
  }
  for (const name of ['agent.json', 'agent-card.json']) {
    const descriptor = await tryDescriptor(`${origin}/.well-known/${name}`, resolution)
    if (descriptor) return { descriptor, rest: below }
  }
  return undefined
}

async function findInIndex(
  origin: string,
  segments: readonly string[],
  resolution: Resolution,
): Promise<FoundAgent | undefined> {
  const index = await fetchIndex(`${origin}/.well-known/agents.json`, resolution)
  const match = index && longestKey(segments, (key) => index.has(key))
  const entry = match && index.get(match.key)
  if (!entry) return undefined
  const descriptor = await followEntry(entry, `${origin}/.well-known/agents.json`, resolution)
  return descriptor && { descriptor, name: match.key, rest: match.rest }
}

/** An invalid index is ignored, with a warning. */
async function fetchIndex(url: string, resolution: Resolution): Promise<AgentsIndex | undefined> {
  const found = await resolution.fetchText(url, 'index')
  if (!found) return undefined
  try {
    return parseAgentsJson(readObject(found.text, found.url), found.url)
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    resolution.warn(error.message)
    return undefined
  }
}

/** Prefers the agent.json that an index links to over the entry embedded in the index (C-84). */
async function followEntry(entry: IndexedAgent, from: string, resolution: Resolution): Promise<Descriptor | undefined> {
  const { name, url, embedded } = entry
  const descriptor = url === undefined ? undefined : await tryDescriptor(url, resolution)
  if (descriptor) return descriptor
  if (url !== undefined) resolution.warn(`agents.json links "${name}" to ${url}, which has no descriptor`)
  return embedded && readDescriptor(embedded, from)
}

/** The descriptor at a URL; undefined if there is none. */
export async function tryDescriptor(url: string, resolution: Resolution): Promise<Descriptor | undefined> {
  const found = await resolution.fetchText(url)
  if (!found) return undefined
  const descriptor = parseDescriptor(found.text, found.url)
  if (isDescriptor(descriptor.document)) return descriptor
  resolution.warn(`${found.url} is not a descriptor of an agent`)
  return undefined
}

/** The folders of a path from the deepest to the root, each with the segments below it. */
function foldersOf(segments: readonly string[], resolution: Resolution): { path: string; rest: readonly string[] }[] {
  const lengths = Array.from({ length: segments.length + 1 }, (_, i) => segments.length - i)
  const tried = lengths.filter((length) => length === segments.length || length < MAX_LEVELS)
  if (tried.length < lengths.length)
    resolution.warn(`the path is deeper than ${MAX_LEVELS}: not every folder was tried`)
  return tried.map((length) => ({
    path: segments
      .slice(0, length)
      .map((segment) => `/${segment}`)
      .join(''),
    rest: segments.slice(length),
  }))
}

/** Finds the descriptor that the document of a DID links to (C-87). */
export async function findByDid(
  did: string,
  path: string,
  resolution: Resolution,
  methods: Readonly<Record<string, DidMethod>>,
): Promise<FoundAgent> {
  const urls = descriptorUrls(await resolveDid(did, resolution, methods))
  for (const url of urls) {
    const descriptor = await tryDescriptor(url, resolution)
    if (descriptor) return { descriptor, rest: segmentsOf(path) }
  }
  const reason = urls.length === 0 ? 'has no service for an agent' : 'links to no descriptor'
  throw new ClientError('not_found', `the document of ${did} ${reason}`)
}
