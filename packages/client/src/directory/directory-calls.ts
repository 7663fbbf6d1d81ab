import type { StreamPart } from '@switchboard/protocol'
import type { Call, CallInput, Output, Reply, Transport } from '../transports/call.js'
import type { Credential } from '../transports/credential.js'
import { createCall, type DirectoryCallOptions, preferHeader, searchHeader } from './call-options.js'
import { createDirectCall } from './direct-call.js'
import type { AgentMetadata } from './documents.js'
import type { Requester } from './requester.js'
import { assertCallable } from './trust.js'

type Agent = string | { readonly id: string }

/** Calls the agents of a directory. */
export interface DirectoryCalls {
  /**
   * Calls an agent and waits for its response, deferred ones too.
   *
   * @typeParam T the output that you expect; see `Reply`
   */
  invoke<T = Output>(agent: Agent, input: CallInput, options?: DirectoryCallOptions): Promise<Reply<T>>
  /** Calls an agent and yields the parts of its response as they arrive. Leaving the loop cancels the call. */
  stream(agent: Agent, input: CallInput, options?: DirectoryCallOptions): AsyncIterable<StreamPart>
}

/** Paths below /agents/{id}/ that are not operations (C-04). */
const RESERVED = new Set([
  'invoke',
  'feedback',
  'certify',
  'operations',
  'agent.json',
  'agent-card.json',
  'server.json',
  'a2a',
])

export function createDirectoryCalls(request: Requester, transport: Transport): DirectoryCalls {
  const prepare = async (id: string, input: CallInput, options: DirectoryCallOptions): Promise<Call> => {
    const hasPolicy = options.requireCertified || options.minQuality !== undefined
    if (options.mode !== 'direct' && !hasPolicy) return createGatewayCall(request, id, input, options)
    // Read again for each call, because the agent may have been revoked since it was found (PROF §14).
    const metadata = await readMetadataOf(request, id, options)
    assertCallable(metadata, options)
    return options.mode === 'direct'
      ? createDirectCall(metadata, input, options)
      : createGatewayCall(request, id, input, options)
  }
  function invoke<T>(agent: Agent, input: CallInput, options?: DirectoryCallOptions): Promise<Reply<T>>
  async function invoke(agent: Agent, input: CallInput, options: DirectoryCallOptions = {}): Promise<Reply> {
    return transport.invoke(await prepare(idOf(agent), input, options))
  }
  return {
    invoke,
    async *stream(agent, input, options = {}) {
      yield* transport.stream(await prepare(idOf(agent), input, options))
    },
  }
}

const idOf = (agent: Agent): string => (typeof agent === 'string' ? agent : agent.id)

async function readMetadataOf(request: Requester, id: string, options: DirectoryCallOptions): Promise<AgentMetadata> {
  const { signal, timeoutMs } = options
  const { body } = await request({
    method: 'GET',
    path: `/agents/${encodeURIComponent(id)}`,
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
  return { ...(typeof body === 'object' && !Array.isArray(body) ? body : {}), id }
}

function createGatewayCall(request: Requester, id: string, input: CallInput, options: DirectoryCallOptions): Call {
  const { operation, credentials, searchId } = options
  const rest =
    operation === undefined
      ? 'invoke'
      : RESERVED.has(operation)
        ? `operations/${encodeURIComponent(operation)}`
        : encodeURIComponent(operation)
  const url = request.urlOf(`/agents/${encodeURIComponent(id)}/${rest}`)
  return {
    ...createCall(id, url, input, options),
    headers: {
      ...searchHeader(searchId),
      ...preferHeader(options),
      ...forwarded(credentials, request.credentials),
      ...request.headers(),
    },
  }
}

/**
 * The header for the agent's credential (C-96). `X-API-Key` is the agent's only beside an `Authorization` for the directory:
 * without one, such as with the session of a browser, the directory would take it for its own.
 */
function forwarded(credential: Credential | undefined, own: Readonly<Record<string, string>>): Record<string, string> {
  if (credential === undefined) return {}
  if (credential.type === 'bearer') return { 'x-agent-authorization': `Bearer ${credential.token}` }
  return { [Object.hasOwn(own, 'authorization') ? 'x-api-key' : 'x-agent-api-key']: credential.key }
}
