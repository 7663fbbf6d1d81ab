import type { AddressPolicy } from '../resolve/address-policy.js'
import { type Call, type CallInput, type CallLimits, DEFAULT_LIMITS } from '../transports/call.js'
import type { Credential } from '../transports/credential.js'
import { type Identifiers, readIdentifiers } from '../transports/identifiers.js'
import type { RequestOptions } from './requester.js'
import type { TrustPolicy } from './trust.js'

/** How an agent is called by way of a directory. */
export interface DirectoryCallOptions
  extends RequestOptions,
    Identifiers,
    Partial<CallLimits>,
    TrustPolicy,
    AddressPolicy {
  /** Which operation, for agents with several. */
  readonly operation?: string
  /** `gateway`: the directory calls the agent; `direct`: this client does, at the agent's own endpoint. */
  readonly mode?: 'gateway' | 'direct'
  /** For the agent itself, where its metadata asks for one; the directory's token never goes there. */
  readonly credentials?: Credential
  /** The agent may take the work on and answer later; that answer is waited for (C-62). */
  readonly respondAsync?: boolean
  readonly accept?: string | readonly string[]
  readonly contentType?: string
  readonly timeoutMs?: number
}

/** The wish to be answered later, where there is one. */
export const preferOf = ({ respondAsync }: DirectoryCallOptions): Record<string, string> =>
  respondAsync ? { prefer: 'respond-async' } : {}

/** What a call has in common, whichever way it goes. */
export function commonOf(
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
    repeatable: false,
  }
}
