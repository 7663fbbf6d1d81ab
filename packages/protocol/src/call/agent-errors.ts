import { ERROR_KINDS } from '../errors.js'

export interface AgentErrorKind {
  readonly status: number
  /** The `error.code` of AIDIP and agent:// (AURI §9). */
  readonly name: string
  readonly title: string
  /** The profile's `code`, if it differs from the code here. */
  readonly profile?: string
}

/** The errors that an agent, or a local runtime in its place, sends to callers (AURI §9, C-68). */
export const AGENT_ERROR_KINDS = {
  invalid_input: { ...ERROR_KINDS.invalid_request, profile: 'invalid_request' },
  unauthorized: ERROR_KINDS.unauthorized,
  permission_denied: { ...ERROR_KINDS.forbidden, name: 'PermissionDenied', profile: 'forbidden' },
  not_found: ERROR_KINDS.not_found,
  capability_not_found: {
    status: 404,
    name: 'CapabilityNotFound',
    title: 'Capability Not Found',
    profile: 'not_found',
  },
  version_not_found: { status: 404, name: 'VersionNotFound', title: 'Version Not Found', profile: 'not_found' },
  method_not_allowed: ERROR_KINDS.method_not_allowed,
  not_acceptable: ERROR_KINDS.not_acceptable,
  conflict: { ...ERROR_KINDS.conflict, title: 'The request conflicts with the current state' },
  payload_too_large: ERROR_KINDS.payload_too_large,
  unsupported_media_type: ERROR_KINDS.unsupported_media_type,
  misdirected: { status: 421, name: 'MisdirectedRequest', title: 'The request is meant for another host' },
  ambiguous_response: { status: 422, name: 'AmbiguousResponse', title: 'The result is ambiguous' },
  idempotency_mismatch: ERROR_KINDS.idempotency_mismatch,
  rate_limited: ERROR_KINDS.rate_limited,
  internal_error: { ...ERROR_KINDS.internal_error, title: 'The agent failed' },
  agent_error: { ...ERROR_KINDS.agent_error, title: 'A called agent failed' },
  unavailable: { ...ERROR_KINDS.unavailable, title: 'The agent is temporarily unavailable' },
  timeout: ERROR_KINDS.timeout,
} satisfies Record<string, AgentErrorKind>

/** Codes of the errors that agents and local runtimes send. */
export type SentErrorCode = keyof typeof AGENT_ERROR_KINDS
