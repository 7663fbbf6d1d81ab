import {
  asObjects,
  asString,
  asStrings,
  ERROR_KINDS,
  isObject,
  type JsonObject,
  type JsonValue,
} from '@switchboard/protocol'
import { ClientError, type ClientErrorCode, type ClientErrorOptions } from '../errors.js'

/** Categories that the draft recommends (AURI §9). */
const CATEGORIES = ['CapabilityNotFound', 'InvalidInput', 'AmbiguousResponse', 'Timeout', 'PermissionDenied'] as const

export type ProblemCategory = (typeof CATEGORIES)[number]

/** What the far side said went wrong, whichever of the usual shapes it said it in. */
export interface Problem {
  /** Its own word for it: `StaleMetadata`, `-32601`, the end of a problem's type. */
  readonly code?: string
  readonly category?: ProblemCategory
  readonly message?: string
  readonly status?: number
  /** Of problem details (RFC 9457). */
  readonly type?: string
  readonly title?: string
  readonly instance?: string
  /** Members at fault. */
  readonly issues?: readonly { readonly member: string; readonly message: string }[]
  /** Media types that would be acceptable (AURI §8.1). */
  readonly supported?: readonly string[]
  /** Seconds. */
  readonly retryAfter?: number
  readonly requestId?: string
}

/**
 * Reads problem details (RFC 9457), the error object of AIDIP, the profile's error, a JSON-RPC error and a GraphQL list
 * of errors alike (AURI §9); undefined if the value is none of them.
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

/** The member that holds the error: AIDIP's and JSON-RPC's `error`, the first of GraphQL's `errors`. */
function errorOf(value: JsonObject): JsonObject | undefined {
  if (isObject(value.error)) return value.error
  if (typeof value.error === 'string') return { message: value.error }
  const [first] = asObjects(value.errors)
  if (first === undefined || typeof first.message !== 'string' || value.status !== undefined) return undefined
  return { ...(isObject(first.extensions) && first.extensions), message: first.message }
}

function codeOf(source: JsonObject | undefined): string | undefined {
  // Matrix says errcode.
  const code = source?.code ?? source?.errcode
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined
}

/** Seconds; Matrix counts milliseconds. */
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

/** JSON-RPC's reserved codes, in the draft's words. */
const RPC_CATEGORIES: Readonly<Record<string, ProblemCategory>> = {
  '-32601': 'CapabilityNotFound',
  '-32600': 'InvalidInput',
  '-32602': 'InvalidInput',
  '-32700': 'InvalidInput',
}

const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z0-9]/g, '')

function categoryOf(code: string | undefined, title: string | undefined): ProblemCategory | undefined {
  if (code !== undefined && Object.hasOwn(RPC_CATEGORIES, code)) return RPC_CATEGORIES[code]
  const words = [code, title].flatMap((text) => (text === undefined ? [] : [plain(text)]))
  return CATEGORIES.find((category) => words.includes(plain(category)))
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

/** The error that a caller is given for what the far side said. */
export function toClientError(problem: Problem, options: ClientErrorOptions): ClientError {
  const status = options.status ?? problem.status ?? statusOfName(problem.code)
  const retryAfter = options.retryAfter ?? problem.retryAfter
  const requestId = options.requestId ?? problem.requestId
  const said = problem.message ?? `the answer has the status ${status ?? 'of an error'}`
  return new ClientError(codeFor(problem, status), shortened(said), {
    ...options,
    ...(status !== undefined && { status }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(requestId !== undefined && { requestId }),
  })
}

/** Within a stream an error has no status of its own, but its name stands for one (C-68). */
const statusOfName = (name: string | undefined): number | undefined =>
  Object.values(ERROR_KINDS).find((kind) => kind.name === name)?.status

function codeFor({ category }: Problem, status: number | undefined): ClientErrorCode {
  // A status that says more than a category does is kept: 429 and 503 tell when to come again.
  if (category !== undefined && status !== 429 && status !== 503) return CODE_OF_CATEGORY[category]
  if (status === undefined || status >= 600) return 'remote_error'
  const code = CODE_OF_STATUS[status]
  if (code !== undefined) return code
  if (status >= 500) return 'remote_error'
  return status >= 400 ? 'invalid_input' : 'bad_response'
}

/** Characters of a stranger's message that are worth a line. */
const MAX_MESSAGE = 500

/** On one line and bounded: it may end up in a log or on a terminal. */
function shortened(message: string): string {
  const line = message.replaceAll(/\p{Cc}+/gu, ' ').trim()
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE)}…` : line
}
