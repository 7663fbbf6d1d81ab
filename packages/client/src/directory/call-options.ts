import type { JsonValue } from '@switchboard/protocol'
import type { AddressPolicy } from '../resolve/address-policy.js'
import { type Call, type CallInput, type CallLimits, DEFAULT_LIMITS } from '../transports/call.js'
import type { Credential } from '../transports/credential.js'
import { type Identifiers, readIdentifiers } from '../transports/identifiers.js'
import type { RequestOptions } from './requester.js'
import type { TrustPolicy } from './trust.js'

/** Options of a call to an agent in a directory. */
export interface DirectoryCallOptions
  extends RequestOptions,
    Identifiers,
    Partial<CallLimits>,
    TrustPolicy,
    AddressPolicy {
  /** The operation to call, if the agent has several. */
  readonly operation?: string
  /** `gateway` (default): the directory calls the agent. `direct`: this client calls the agent's own endpoint. */
  readonly mode?: 'gateway' | 'direct'
  /** For the agent, if its metadata asks for one. The directory's token is never sent to the agent. */
  readonly credentials?: Credential
  /** The `searchId` of the search that found the agent: the directory learns from it which agents suit which queries. */
  readonly searchId?: string
  /** Lets the agent respond later; the client polls until the response is ready (C-62). */
  readonly respondAsync?: boolean
  /** Called with the task of a deferred call when it is accepted and after every poll: `status`, `taskId` … */
  readonly onTask?: (task: JsonValue) => void
  /** Accepted media types, most preferred first; default: JSON. */
  readonly accept?: string | readonly string[]
  /** Media type of an input that is not JSON. */
  readonly contentType?: string
  /** Milliseconds until the whole response has arrived, or a stream has started; default: 30 s. */
  readonly timeoutMs?: number
}

/** The `Prefer` header that these options need. */
export const preferHeader = ({ respondAsync }: DirectoryCallOptions): Record<string, string> =>
  respondAsync ? { prefer: 'respond-async' } : {}

/** Says which search an agent was found by, for directories that learn from it. */
export const searchHeader = (searchId: string | undefined): Record<string, string> =>
  searchId === undefined ? {} : { 'x-search-id': searchId }

/** The parts of a call that are the same through the gateway and direct. */
export function createCall(
  id: string,
  url: string,
  input: CallInput,
  options: DirectoryCallOptions,
): Omit<Call, 'headers'> {
  const { timeoutMs, silenceMs, waitMs, maxBytes, maxPartLength } = { ...DEFAULT_LIMITS, ...options }
  return {
    uri: id,
    url,
    endpoint: { transport: new URL(url).protocol.slice(0, -1), protocol: 'https', url },
    method: 'POST',
    input,
    ...(options.contentType !== undefined && { contentType: options.contentType }),
    accept: options.accept === undefined ? [] : [options.accept].flat(),
    identifiers: readIdentifiers(options),
    limits: { timeoutMs, silenceMs, waitMs, maxBytes, maxPartLength },
    ...(options.signal && { signal: options.signal }),
    ...(options.onTask && { onTask: options.onTask }),
    repeatable: false,
  }
}
