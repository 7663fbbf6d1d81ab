import {
  asString,
  type DocumentFormat,
  detectFormat,
  isObject,
  type JsonObject,
  readRecord,
} from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { type AgentMetadata, readMetadata } from './documents.js'
import { expandTemplate } from './expand-template.js'
import type { Paths } from './lookup.js'
import type { DirectoryAnswer, DirectoryRequest, Requester, RequestOptions } from './requester.js'

export interface RegisterOptions extends RequestOptions {
  /** The agent's id, and its name in the Agent Directory, where the document states none or another is wanted. */
  readonly id?: string
  /** Seconds; for registrations of the Agent Directory, which lapse unless they are refreshed. */
  readonly lifetime?: number
  /** Which draft the document speaks, where it should not be told by its members. */
  readonly format?: DocumentFormat
  /** Fails with `conflict` unless the agent is still the one with this entity tag. */
  readonly ifMatch?: string
}

/** What came of a registration. */
export interface Registration {
  readonly id: string
  /** False: one of the same owner was replaced. */
  readonly created: boolean
  /** The resource of the registration, absolute. */
  readonly href: string
  /** As the directory shows it. */
  readonly document: JsonObject
  /** Seconds granted, where the registration lapses. */
  readonly lifetime?: number
  readonly warnings: readonly string[]
}

/** Registers a document of any draft, through the face that takes it. */
export async function register(
  request: Requester,
  findPaths: (options: RequestOptions) => Promise<Paths>,
  document: JsonObject,
  options: RegisterOptions = {},
): Promise<Registration> {
  const { id, lifetime, format: said, ifMatch, ...rest } = options
  const format = said ?? detectFormat(document)
  const headers = ifMatch === undefined ? {} : { 'if-match': ifMatch }
  const post = (path: string, body: JsonObject, isRepeatable: boolean): DirectoryRequest => ({
    ...rest,
    method: 'POST',
    path,
    body,
    headers,
    isRepeatable,
  })
  switch (format) {
    case undefined:
      throw new ClientError('invalid_argument', 'no draft has a document with these members: name its format')
    case 'aidip': {
      const body = id === undefined ? document : { ...document, id }
      // Without an id each request would make an agent of its own.
      return readAgent(request, await request(post('/agents', body, typeof body.id === 'string')))
    }
    case 'directory': {
      const { registration } = await findPaths(rest)
      const name = id ?? asString(document.agent)
      if (name === undefined) throw new ClientError('invalid_argument', 'the Agent Directory needs a name: give an id')
      const path = registration + expandTemplate('{?agent,lt}', { agent: name, lt: lifetime })
      return readRegistration(request, name, await request(post(path, document, true)), rest)
    }
    default: {
      const body =
        format === 'profile' ? { ...document, ...(id !== undefined && { id }) } : toProfile(format, document, id)
      return readAgent(request, await request(post('/discover/agents', body, true)))
    }
  }
}

/**
 * Descriptors, A2A cards and MCP servers have no registration of their own: they are sent as metadata of the profile,
 * which keeps every member it does not know and has a place for all their ways to be reached (C-18, C-27).
 */
function toProfile(format: DocumentFormat, document: JsonObject, id: string | undefined): JsonObject {
  const { name, description, tags, bindings, authentication } = readRecord(format, document, id ?? '')
  const [first] = bindings
  if (first === undefined) throw new ClientError('invalid_argument', 'the document names no way to reach the agent')
  const ownId =
    id ?? asString(document.id) ?? (format === 'mcp' ? asString(document.name) : undefined) ?? first.endpoint
  return {
    ...document,
    id: ownId,
    name: name || ownId,
    description,
    tags: [...tags],
    bindings: bindings.map(({ protocol, endpoint }, priority) => ({ protocol, endpoint, priority })),
    ...(authentication && { auth: { ...authentication } }),
  }
}

function readAgent(request: Requester, answer: DirectoryAnswer): Registration {
  const document = readMetadata(answer.body)
  return { id: document.id, document, ...outcomeOf(request, answer) }
}

/** The answer of the Agent Directory is empty: what was granted is read from its resource (AD §4.2). */
async function readRegistration(
  request: Requester,
  id: string,
  answer: DirectoryAnswer,
  options: RequestOptions,
): Promise<Registration> {
  const outcome = outcomeOf(request, answer)
  const { body } = await request({ ...options, method: 'GET', path: outcome.href })
  const document = isObject(body) ? body : {}
  return { id, document, ...outcome, ...(typeof document.lt === 'number' && { lifetime: document.lt }) }
}

function outcomeOf(
  request: Requester,
  { status, headers, warnings, url }: DirectoryAnswer,
): Omit<Registration, 'id' | 'document'> {
  const location = headers.get('location')
  const href = location !== null && URL.canParse(location, url) ? request.urlOf(new URL(location, url).href) : url
  return { created: status === 201, href, warnings }
}

/** The next document, or how to make it from the one that is there. */
export type Update = JsonObject | ((current: AgentMetadata) => JsonObject | Promise<JsonObject>)

/** How often a change is made again because somebody else's came first. */
const MAX_RACES = 3

/** Members that the directory adds, which are no part of what a publisher says. */
const ADDED = ['verification', 'freshness', 'redacted', 'statistics']

/**
 * Replaces an agent's metadata. A function is given the present document, and is asked again if somebody else changed
 * it meanwhile, so that no change is lost.
 */
export async function update(
  request: Requester,
  id: string,
  change: Update,
  options: RequestOptions & { readonly ifMatch?: string },
): Promise<Registration> {
  const { ifMatch, ...rest } = options
  const path = `/agents/${encodeURIComponent(id)}`
  const put = async (body: JsonObject, tag: string | undefined): Promise<Registration> => {
    const headers = tag === undefined ? {} : { 'if-match': tag }
    return readAgent(request, await request({ ...rest, method: 'PUT', path, body, headers }))
  }
  if (typeof change !== 'function') return put(change, ifMatch)
  for (let races = 0; ; races++) {
    const { body, headers } = await request({ ...rest, method: 'GET', path })
    const current = readMetadata(body)
    for (const name of ADDED) delete current[name]
    try {
      return await put(await change(current), headers.get('etag') ?? undefined)
    } catch (error) {
      if (!(error instanceof ClientError) || error.status !== 412 || races >= MAX_RACES) throw error
    }
  }
}
