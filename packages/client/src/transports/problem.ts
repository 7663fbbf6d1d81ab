import { ERROR_KINDS } from '@switchboard/protocol/errors'
import { asObjects, asString, asStrings, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'
import { ClientError, type ClientErrorCode, type ClientErrorOptions } from '../errors.js'

/** Error categories that the draft recommends (AURI §9). */
const CATEGORIES = ['CapabilityNotFound', 'InvalidInput', 'AmbiguousResponse', 'Timeout', 'PermissionDenied'] as const

export type ProblemCategory = (typeof CATEGORIES)[number]

/** An error of an agent or directory, read from any of the common formats. */
export interface Problem {
  /** The sender's own code: `StaleMetadata`, `-32601`, or the last segment of a problem type. */
  readonly code?: string
  readonly category?: ProblemCategory
  readonly message?: string
  readonly status?: number
  /** From problem details (RFC 9457), as are `title` and `instance`. */
  readonly type?: string
  readonly title?: string
  readonly instance?: string
  /** The invalid members of the input. */
  readonly issues?: readonly { readonly member: string; readonly message: string }[]
  /** Media types that the agent supports (AURI §8.1). */
  readonly supported?: readonly string[]
  /** Seconds. */
  readonly retryAfter?: number
  readonly requestId?: string
}

/**
 * Reads problem details (RFC 9457), the error objects of AIDIP and of the profile, JSON-RPC errors and GraphQL error
 * lists (AURI §9); undefined if the value is none of these.
 */
export function readProblem(value: unknown): Problem | undefined {
  if (!isObject(value)) return undefined
  const source = errorOf(value)
  const type = asString(value.type) ?? asString(source?.type)
  const title = asString(value.title) ?? asString(source?.title)
  const code = codeOf(source) ?? codeOf(value) ?? (type === undefined ? undefined : lastSegment(type))
  const message =
    textOf(value.detail) ?? textOf(source?.message) ?? textOf(source?.detail) ?? textOf(value.message) ?? title
  if (source === undefined && title === undefined && (code === undefined || message === undefined)) return undefined
  const category = categoryOf(code, title)
  const status = [value.status, source?.status].find((item) => typeof item === 'number')
  const instance = asString(value.instance) ?? asString(source?.instance)
  const issues = asObjects(source?.details ?? value.details ?? value.errors).flatMap(toIssue)
  const supported = asStrings(value.supported ?? source?.supported)
  const retryAfter = retryAfterOf(value) ?? (source && retryAfterOf(source))
  const requestId = asString(value.correlation_id)
  return {
    ...(code !== undefined && { code }),
    ...(category && { category }),
    ...(message !== undefined && { message }),
    ...(typeof status === 'number' && { status }),
    ...(type !== undefined && { type }),
    ...(title !== undefined && { title }),
    ...(instance !== undefined && { instance }),
    ...(issues.length > 0 && { issues }),
    ...(supported.length > 0 && { supported }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(requestId !== undefined && { requestId }),
  }
}

/** The error member: `error` in AIDIP and JSON-RPC, the first of `errors` in GraphQL. */
function errorOf(value: JsonObject): JsonObject | undefined {
  if (isObject(value.error)) return value.error
  if (typeof value.error === 'string') return { message: value.error }
  const [first] = asObjects(value.errors)
  if (first === undefined || typeof first.message !== 'string' || value.status !== undefined) return undefined
  return { ...(isObject(first.extensions) && first.extensions), message: first.message }
}

function codeOf(source: JsonObject | undefined): string | undefined {
  // Matrix calls it errcode.
  const code = source?.code ?? source?.errcode
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined
}

/** In seconds; Matrix sends milliseconds. */
function retryAfterOf({ retry_after: seconds, retry_after_ms: ms }: JsonObject): number | undefined {
  const value = typeof ms === 'number' ? ms / 1000 : seconds
  return typeof value === 'number' && value >= 0 ? value : undefined
}

const textOf = (value: JsonValue | undefined): string | undefined => asString(value) || undefined

const lastSegment = (type: string): string | undefined => type.split(/[/#:]/).findLast((part) => part !== '')

function toIssue(item: JsonObject): { member: string; message: string }[] {
  const member = asString(item.member) ?? asString(item.at) ?? asString(item.pointer)
  const message = asString(item.message) ?? asString(item.detail)
  return member !== undefined && message !== undefined ? [{ member, message }] : []
}

/** The draft's categories for JSON-RPC's reserved codes. */
const RPC_CATEGORIES: Readonly<Record<string, ProblemCategory>> = {
  '-32601': 'CapabilityNotFound',
  '-32600': 'InvalidInput',
  '-32602': 'InvalidInput',
  '-32700': 'InvalidInput',
}

const normalize = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

function categoryOf(code: string | undefined, title: string | undefined): ProblemCategory | undefined {
  if (code !== undefined && Object.hasOwn(RPC_CATEGORIES, code)) return RPC_CATEGORIES[code]
  const names = [code, title].flatMap((text) => (text === undefined ? [] : [normalize(text)]))
  return CATEGORIES.find((category) => names.includes(normalize(category)))
}

const CODE_OF_CATEGORY: Readonly<Record<ProblemCategory, ClientErrorCode>> = {
  CapabilityNotFound: 'capability_not_found',
  InvalidInput: 'invalid_input',
  AmbiguousResponse: 'remote_error',
  Timeout: 'timeout',
  PermissionDenied: 'permission_denied',
}

const CODE_OF_STATUS: Readonly<Record<number, ClientErrorCode>> = {
  401: 'unauthorized',
  403: 'permission_denied',
  404: 'not_found',
  406: 'not_acceptable',
  408: 'timeout',
  409: 'conflict',
  410: 'not_found',
  412: 'conflict',
  413: 'too_large',
  429: 'rate_limited',
  503: 'unavailable',
  504: 'timeout',
}

/** The ClientError for a problem of the other side. */
export function toClientError(problem: Problem, options: ClientErrorOptions): ClientError {
  const status = options.status ?? problem.status ?? statusOfName(problem.code)
  const retryAfter = options.retryAfter ?? problem.retryAfter
  const requestId = options.requestId ?? problem.requestId
  const message = problem.message ?? (status === undefined ? 'the call failed' : `the response has status ${status}`)
  return new ClientError(codeFor(problem, status), toOneLine(message), {
    ...options,
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(requestId !== undefined && { requestId }),
  })
}

/** Errors within a stream have no status, but their code implies one (C-68). */
const statusOfName = (name: string | undefined): number | undefined =>
  Object.values(ERROR_KINDS).find((kind) => kind.name === name)?.status

function codeFor({ category }: Problem, status: number | undefined): ClientErrorCode {
  // 429 and 503 win over the category: they tell the caller to retry later.
  if (category !== undefined && status !== 429 && status !== 503) return CODE_OF_CATEGORY[category]
  if (status === undefined || status >= 600) return 'remote_error'
  const code = CODE_OF_STATUS[status]
  if (code !== undefined) return code
  if (status >= 500) return 'remote_error'
  return status >= 400 ? 'invalid_input' : 'bad_response'
}

/** Maximum characters of a message from the other side. */
const MAX_MESSAGE = 500

/** Removes control characters and truncates: the message may end up in a log or on a terminal. */
function toOneLine(message: string): string {
  const line = message.replaceAll(/\p{Cc}+/gu, ' ').trim()
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)}…` : line
}
