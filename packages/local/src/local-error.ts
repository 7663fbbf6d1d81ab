import type { JsonObject } from '@switchboard/protocol'

interface Kind {
  readonly status: number
  /** The `error.code` of agent:// and AIDIP (AURI §9). */
  readonly name: string
  readonly title: string
}

/** Status, name and title of each error code. */
const KINDS = {
  invalid_input: { status: 400, name: 'InvalidInput', title: 'Invalid Input' },
  permission_denied: { status: 403, name: 'PermissionDenied', title: 'Permission Denied' },
  not_found: { status: 404, name: 'NotFound', title: 'Not Found' },
  capability_not_found: { status: 404, name: 'CapabilityNotFound', title: 'Capability Not Found' },
  method_not_allowed: { status: 405, name: 'MethodNotAllowed', title: 'Method Not Allowed' },
  conflict: { status: 409, name: 'Conflict', title: 'Conflict' },
  too_large: { status: 413, name: 'PayloadTooLarge', title: 'Payload Too Large' },
  unsupported_media_type: { status: 415, name: 'UnsupportedMediaType', title: 'Unsupported Media Type' },
  misdirected: { status: 421, name: 'MisdirectedRequest', title: 'Misdirected Request' },
  rate_limited: { status: 429, name: 'RateLimited', title: 'Too Many Requests' },
  internal_error: { status: 500, name: 'InternalError', title: 'Internal Error' },
  agent_error: { status: 502, name: 'AgentError', title: 'The Agent Failed' },
  unavailable: { status: 503, name: 'Unavailable', title: 'Unavailable' },
  timeout: { status: 504, name: 'Timeout', title: 'Timeout' },
  /** No runtime is listening, or its folder cannot be used. Only thrown to programs, never sent over HTTP. */
  unusable: { status: 500, name: 'Unusable', title: 'Unusable' },
} satisfies Record<string, Kind>

/** Stable codes by which programs can tell errors apart. */
export type LocalErrorCode = keyof typeof KINDS

/** The error that everything in this package throws. */
export class LocalError extends Error {
  override readonly name = 'LocalError'
  readonly code: LocalErrorCode

  constructor(code: LocalErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options)
    this.code = code
  }

  get status(): number {
    return KINDS[this.code].status
  }
}

/** Problem details (RFC 9457) that also carry AIDIP's `error`, for clients of either. */
export function toProblem({ code, status, message }: LocalError): JsonObject {
  const { name, title } = KINDS[code]
  const type = `urn:switchboard:problem:${code.replaceAll('_', '-')}`
  return { type, title, status, detail: message, error: { code: name, message } }
}

/** The code for an `error.code` in a response of the runtime. */
export const codeOfName = (name: string): LocalErrorCode | undefined => CODES.find((code) => KINDS[code].name === name)

const CODES: readonly LocalErrorCode[] = Object.keys(KINDS).filter((code): code is LocalErrorCode =>
  Object.hasOwn(KINDS, code),
)

/** The code of a system error, such as `ENOENT`. */
export const systemCodeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
