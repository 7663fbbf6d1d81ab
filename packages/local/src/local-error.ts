import { AGENT_ERROR_KINDS, type AgentErrorKind, type JsonObject } from '@switchboard/protocol'

const KINDS = {
  ...AGENT_ERROR_KINDS,
  /** No runtime is listening, or its folder cannot be used. Only thrown to programs, never sent over HTTP. */
  unusable: { status: 500, name: 'Unusable', title: 'The local runtime cannot be used' },
} satisfies Record<string, AgentErrorKind>

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
