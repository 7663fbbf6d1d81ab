import type { AgentUri } from '@switchboard/agent-uri'
import { ClientError } from '../errors.js'
import { descriptorUrls, resolveDid } from './did-resolution.js'
import { type Inquiry, readObject } from './inquiry.js'
import type { DidMethod } from './options.js'
import { type AgentsIndex, type IndexedAgent, parseAgentsJson } from './parse-agents-json.js'
import { type Descriptor, isDescriptor, parseDescriptor, readDescriptor } from './parse-descriptor.js'
import { longestKey, originOf, segmentsOf } from './uri-path.js'

/** An agent that was found, and what of the URI's path is left for it to read. */
export interface FoundAgent {
  readonly descriptor: Descriptor
  /** Its name in agents.json. */
  readonly name?: string
  readonly rest: readonly string[]
}

/** Levels of a path that are asked for an agent.json; a longer path is asked at its end and near its root. */
const MAX_LEVELS = 12

/**
 * Looks for the descriptor of an agent on its host, in the order of AURI §6.2 and C-85: the agents.json of the host,
 * the agent.json of the path and of each folder above it, then the well-known names.
 */
export async function findOnHost(uri: AgentUri, inquiry: Inquiry): Promise<FoundAgent | undefined> {
  const origin = originOf(uri, inquiry.policy)
  const segments = segmentsOf(uri.path)
  const indexed = await findInIndex(origin, segments, inquiry)
  if (indexed) return indexed

  for (const { path, rest } of levelsOf(segments, inquiry)) {
    const descriptor = await tryDescriptor(`${origin}${path}/agent.json`, inquiry)
    if (descriptor) return { descriptor, rest }
  }
  for (const name of ['agent.json', 'agent-card.json']) {
    const descriptor = await tryDescriptor(`${origin}/.well-known/${name}`, inquiry)
    if (descriptor) return { descriptor, rest: segments }
  }
  return undefined
}

async function findInIndex(
  origin: string,
  segments: readonly string[],
  inquiry: Inquiry,
): Promise<FoundAgent | undefined> {
  const index = await askIndex(`${origin}/.well-known/agents.json`, inquiry)
  const match = index && longestKey(segments, (key) => index.has(key))
  const entry = match && index.get(match.key)
  if (!entry) return undefined
  const descriptor = await followEntry(entry, `${origin}/.well-known/agents.json`, inquiry)
  return descriptor && { descriptor, name: match.key, rest: match.rest }
}

/** A file of that name which is no index is as good as none; nothing in it is followed. */
async function askIndex(url: string, inquiry: Inquiry): Promise<AgentsIndex | undefined> {
  const found = await inquiry.ask(url, 'index')
  if (!found) return undefined
  try {
    return parseAgentsJson(readObject(found.text, found.url), found.url)
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    inquiry.warn(error.message)
    return undefined
  }
}

/** The agent.json that an index leads to is the source of truth; what the index embeds is used without one (C-84). */
async function followEntry(entry: IndexedAgent, from: string, inquiry: Inquiry): Promise<Descriptor | undefined> {
  const { name, url, embedded } = entry
  const descriptor = url === undefined ? undefined : await tryDescriptor(url, inquiry)
  if (descriptor) return descriptor
  if (url !== undefined) inquiry.warn(`agents.json names ${url} for "${name}", and no descriptor is there`)
  return embedded && readDescriptor(embedded, from)
}

/** The descriptor at a URL; undefined if nothing is there, or something that describes no agent. */
export async function tryDescriptor(url: string, inquiry: Inquiry): Promise<Descriptor | undefined> {
  const found = await inquiry.ask(url)
  if (!found) return undefined
  const descriptor = parseDescriptor(found.text, found.url)
  if (isDescriptor(descriptor.document)) return descriptor
  inquiry.warn(`${found.url} describes no agent`)
  return undefined
}

/** The folders of a path from its end to the root, each with the segments below it. */
function levelsOf(segments: readonly string[], inquiry: Inquiry): { path: string; rest: readonly string[] }[] {
  const lengths = Array.from({ length: segments.length + 1 }, (_, i) => segments.length - i)
  const asked = lengths.filter((length) => length === segments.length || length < MAX_LEVELS)
  if (asked.length < lengths.length) inquiry.warn(`the path is deeper than ${MAX_LEVELS}: not every folder was asked`)
  return asked.map((length) => ({
    path: segments
      .slice(0, length)
      .map((segment) => `/${segment}`)
      .join(''),
    rest: segments.slice(length),
  }))
}

/** Looks for the descriptor that the document of a DID leads to (C-87). */
export async function findByDid(
  did: string,
  path: string,
  inquiry: Inquiry,
  methods: Readonly<Record<string, DidMethod>>,
): Promise<FoundAgent> {
  const urls = descriptorUrls(await resolveDid(did, inquiry, methods))
  for (const url of urls) {
    const descriptor = await tryDescriptor(url, inquiry)
    if (descriptor) return { descriptor, rest: segmentsOf(path) }
  }
  const why = urls.length === 0 ? 'names no service that describes an agent' : 'leads to no descriptor'
  throw new ClientError('not_found', `the document of ${did} ${why}`)
}
