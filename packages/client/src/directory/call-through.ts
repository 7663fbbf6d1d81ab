import type { StreamPart } from '@switchboard/protocol'
import type { Call, CallInput, Output, Reply, Transport } from '../transports/call.js'
import type { Credential } from '../transports/credential.js'
import { commonOf, type DirectoryCallOptions, preferOf } from './call-options.js'
import { directCall } from './direct-call.js'
import type { AgentMetadata } from './documents.js'
import type { Requester } from './requester.js'
import { assertCallable } from './trust.js'

/** Calls of agents that a directory knows. */
export interface DirectoryCalls {
  /** @typeParam T the output that you expect; see `Reply` */
  invoke<T = Output>(
    agent: string | { readonly id: string },
    input: CallInput,
    options?: DirectoryCallOptions,
  ): Promise<Reply<T>>
  stream(
    agent: string | { readonly id: string },
    input: CallInput,
    options?: DirectoryCallOptions,
  ): AsyncIterable<StreamPart>
}

/** Words below /agents/{id}/ that are no operations (C-04). */
const RESERVED = new Set([
  'invoke',
  'feedback',
  'certify',
  'operations',
  'agent.json',
  'agent-card.json',
  'server.json',
])

/** Calls agents that a directory knows. */
export function createDirectoryCalls(request: Requester, transport: Transport): DirectoryCalls {
  const prepare = async (id: string, input: CallInput, options: DirectoryCallOptions): Promise<Call> => {
    const wantsFacts = options.requireCertified || options.minQuality !== undefined
    if (options.mode !== 'direct' && !wantsFacts) return throughGateway(request, id, input, options)
    // Asked now: what was found earlier may have been revoked since (PROF §14).
    const metadata = await readMetadataOf(request, id, options)
    assertCallable(metadata, options)
    return options.mode === 'direct'
      ? directCall(metadata, input, options)
      : throughGateway(request, id, input, options)
  }
  type Agent = string | { readonly id: string }
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

const idOf = (agent: string | { readonly id: string }): string => (typeof agent === 'string' ? agent : agent.id)

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

function throughGateway(request: Requester, id: string, input: CallInput, options: DirectoryCallOptions): Call {
  const { operation, credentials } = options
  const rest =
    operation === undefined
      ? 'invoke'
      : RESERVED.has(operation)
        ? `operations/${encodeURIComponent(operation)}`
        : encodeURIComponent(operation)
  const url = request.urlOf(`/agents/${encodeURIComponent(id)}/${rest}`)
  return {
    ...commonOf(id, url, input, options),
    headers: { ...preferOf(options), ...forwarded(credentials, request.credentials), ...request.credentials },
  }
}

/** The agent's own credential beside the gateway's: each has a header of its own (C-96). */
function forwarded(credential: Credential | undefined, own: Readonly<Record<string, string>>): Record<string, string> {
  if (credential === undefined) return {}
  if (credential.type === 'bearer') return { 'x-agent-authorization': `Bearer ${credential.token}` }
  return { [Object.hasOwn(own, 'x-api-key') ? 'x-agent-api-key' : 'x-api-key']: credential.key }
}
