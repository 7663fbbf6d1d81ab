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
import type { PathFinder } from './lookup.js'
import type { DirectoryRequest, DirectoryResponse, Requester, RequestOptions } from './requester.js'

export interface RegisterOptions extends RequestOptions {
  /** The agent's id, which is its name in the Agent Directory, if the document states none or another one is wanted. */
  readonly id?: string
  /** Seconds, for the Agent Directory, whose registrations expire unless they are refreshed. */
  readonly lifetime?: number
  /** The draft of the document; default: detected from its members. */
  readonly format?: DocumentFormat
  /** Fail with `conflict` unless the agent still has this entity tag. */
  readonly ifMatch?: string
}

/** The result of a registration. */
export interface Registration {
  readonly id: string
  /** False if it replaced an agent of the same owner. */
  readonly created: boolean
  /** The absolute URL of the registration. */
  readonly href: string
  /** As the directory returns it. */
  readonly document: JsonObject
  /** Seconds until the registration expires, if it does. */
  readonly lifetime?: number
  readonly warnings: readonly string[]
}

/** Registers a document of any draft at the path for its format. */
export async function register(
  request: Requester,
  findPaths: PathFinder,
  document: JsonObject,
  options: RegisterOptions = {},
): Promise<Registration> {
  const { id, lifetime, format = detectFormat(document), ifMatch, ...rest } = options
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
      throw new ClientError(
        'invalid_argument',
        'the format of the document cannot be detected from its members: name it in the option format',
      )
    case 'aidip': {
      const body = id === undefined ? document : { ...document, id }
      // Without an id, each attempt would register another agent.
      return readAgent(request, await request(post('/agents', body, typeof body.id === 'string')))
    }
    case 'directory': {
      const { registration } = await findPaths(rest)
      const name = id ?? asString(document.agent)
      if (name === undefined)
        throw new ClientError('invalid_argument', 'the Agent Directory needs a name for the agent: set the option id')
      const path = registration + expandTemplate('{?agent,lt}', { agent: name, lt: lifetime })
      return readRegistration(request, name, await request(post(path, document, true)), rest)
    }
    default: {
      // A card is sent as it is, because its signature would not cover a changed one.
      if (format === 'a2a' && detectFormat(document) === 'a2a' && document.endpoint === undefined) {
        const path = `/agents${expandTemplate('{?id}', { id: document.id === undefined ? id : undefined })}`
        const body = id === undefined || document.id === undefined ? document : { ...document, id }
        return readAgent(request, await request(post(path, body, true)))
      }
      const body =
        format === 'profile' ? { ...document, ...(id !== undefined && { id }) } : toProfile(format, document, id)
      return readAgent(request, await request(post('/discover/agents', body, true)))
    }
  }
}

/**
 * The drafts have no registration for descriptors and MCP servers. They are sent as metadata of the profile,
 * which keeps unknown members and can state several bindings (C-18, C-27).
 */
function toProfile(format: DocumentFormat, document: JsonObject, id: string | undefined): JsonObject {
  const { name, description, tags, bindings, authentication } = readRecord(format, document, id ?? '')
  const [first] = bindings
  if (first === undefined) throw new ClientError('invalid_argument', 'the document has no endpoint of the agent')
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

function readAgent(request: Requester, response: DirectoryResponse): Registration {
  const document = readMetadata(response.body)
  return { id: document.id, document, ...outcomeOf(request, response) }
}

/** The Agent Directory responds without a body, so this reads the granted lifetime from the registration (AD §4.2). */
async function readRegistration(
  request: Requester,
  id: string,
  response: DirectoryResponse,
  options: RequestOptions,
): Promise<Registration> {
  const outcome = outcomeOf(request, response)
  const { body } = await request({ ...options, method: 'GET', path: outcome.href })
  const document = isObject(body) ? body : {}
  return { id, document, ...outcome, ...(typeof document.lt === 'number' && { lifetime: document.lt }) }
}

function outcomeOf(
  request: Requester,
  { status, headers, warnings, url }: DirectoryResponse,
): Omit<Registration, 'id' | 'document'> {
  const location = headers.get('location')
  const href = location !== null && URL.canParse(location, url) ? request.urlOf(new URL(location, url).href) : url
  return { created: status === 201, href, warnings }
}

/** The new document, or a function that makes it from the current one. */
export type Update = JsonObject | ((current: AgentMetadata) => JsonObject | Promise<JsonObject>)

/** Retries of an update that lost a race against another one. */
const MAX_CONFLICTS = 3

/** Members that the directory adds to the publisher's document. */
const ADDED = ['verification', 'freshness', 'redacted', 'statistics']

/**
 * Replaces an agent's metadata. A function receives the current document, and is called again if the document has
 * changed in the meantime, so that no change is lost.
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
  for (let conflicts = 0; ; conflicts++) {
    const { body, headers } = await request({ ...rest, method: 'GET', path })
    const current = readMetadata(body)
    for (const name of ADDED) delete current[name]
    try {
      return await put(await change(current), headers.get('etag') ?? undefined)
    } catch (error) {
      if (!(error instanceof ClientError) || error.status !== 412 || conflicts >= MAX_CONFLICTS) throw error
    }
  }
}
