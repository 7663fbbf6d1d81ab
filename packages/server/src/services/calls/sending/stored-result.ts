import { DirectoryError, ERROR_KINDS, type ErrorCode, isObject, type JsonObject } from '@switchboard/protocol'
import type { InvocationResult } from '../response/invocation-result.js'
import type { ResultQuota } from './result-quota.js'
import { textsOf } from './stored-call.js'

/** Most bytes of a stored result; of a larger one only the fact that the call has run is stored. */
const MAX_RESULT_BYTES = 262_144
const REPLAYED = { 'idempotent-replayed': 'true' }

/** Why a result is not stored. */
type Omission = 'kind' | 'size' | 'quota'

/** The result or the error of a call as text to store, or, if that is too much, only that the call has run. */
export async function writeOutcome(
  outcome: InvocationResult | DirectoryError,
  client: string,
  quota: ResultQuota,
): Promise<string> {
  const text = outcome instanceof DirectoryError ? writeError(outcome) : writeResult(outcome)
  if (text === undefined) return writeOmission('kind')
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_RESULT_BYTES) return writeOmission('size')
  return (await quota.take(client, bytes)) ? text : writeOmission('quota')
}

const writeOmission = (omitted: Omission): string => JSON.stringify({ omitted })

/** Undefined for streams and files. */
function writeResult(result: InvocationResult): string | undefined {
  const { status, headers } = result
  if (result.kind === 'json') return JSON.stringify({ status, headers, value: result.value })
  return result.kind === 'task' ? JSON.stringify({ status, headers, task: result.task }) : undefined
}

const writeError = ({ code, message, status, headers, members, retryAfter }: DirectoryError): string =>
  JSON.stringify({ error: { code, message, status, headers, members, retryAfter } })

/** The stored result. Throws the stored error, or `conflict` if the result was not stored. */
export function readOutcome(text: string, quota: Pick<ResultQuota, 'maxBytes'>): InvocationResult {
  const stored: unknown = JSON.parse(text)
  const { error, status, headers, value, task, omitted } = isObject(stored) ? stored : {}
  if (isObject(error)) throw readError(error)
  const common = { status: Number(status), headers: replayedHeaders(headers) }
  if (isObject(task) && isObject(task.document))
    return {
      ...common,
      kind: 'task',
      task: {
        id: String(task.id),
        status: 'pending',
        agent: String(task.agent),
        operation: String(task.operation),
        pollInterval: Number(task.pollInterval),
        document: task.document,
      },
    }
  if (value !== undefined) return { ...common, kind: 'json', value }
  throw new DirectoryError(
    'conflict',
    `the call with this Idempotency-Key has run, but its result was not stored: ${reasonFor(omitted, quota)}. It is not run again; to make another call, use a new key`,
  )
}

function reasonFor(omitted: unknown, { maxBytes }: Pick<ResultQuota, 'maxBytes'>): string {
  if (omitted === 'size') return `it has more than ${MAX_RESULT_BYTES} bytes`
  if (omitted === 'quota') return `you may have ${maxBytes} bytes of results stored in a day`
  return 'streams and files are not'
}

function readError({ code, message, status, headers, members, retryAfter }: JsonObject): DirectoryError {
  const known = Object.keys(ERROR_KINDS).find((kind): kind is ErrorCode => kind === code) ?? 'agent_error'
  return new DirectoryError(known, String(message), {
    status: Number(status),
    headers: replayedHeaders(headers),
    ...(isObject(members) && { members }),
    ...(typeof retryAfter === 'number' && { retryAfter }),
  })
}

const replayedHeaders = (headers: unknown): Record<string, string> => ({
  ...(isObject(headers) && textsOf(headers)),
  ...REPLAYED,
})
