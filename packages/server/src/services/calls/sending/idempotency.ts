import { createHash } from 'node:crypto'
import { DirectoryError, ERROR_KINDS, type ErrorCode, isObject, type JsonObject } from '@switchboard/protocol'
import type { IdempotencyClaim } from '../../../store/store.js'
import type { Agent } from '../../registry/catalog.js'
import type { CallDeps } from '../call-deps.js'
import type { Invocation } from '../request/invocation.js'
import { CallFailed, isStopping } from '../response/call-failed.js'
import type { InvocationResult } from '../response/invocation-result.js'
import { textsOf } from './stored-call.js'

/** Milliseconds for which a result is stored (C-61). */
const STORED_MS = 86_400_000
/** Most characters of a stored result; of a larger one only the fact that the call has run is stored. */
const MAX_STORED = 262_144
/** Retry-After in seconds while the call is in progress. */
const RETRY_SECONDS = 1
/** Milliseconds beyond the call's timeout after which the process that began it is assumed dead and the key is free. */
const GRACE_MS = 60_000
const REPLAYED = { 'idempotent-replayed': 'true' }
/** Stored for a result that cannot be replayed. */
const NOT_STORED = '{}'

type IdempotencyDeps = Pick<CallDeps, 'context' | 'timeoutMs'>

/**
 * Runs a call once for its Idempotency-Key, across all replicas (C-61): a repeated request gets the stored result.
 * Without a key the call simply runs.
 *
 * @param content what distinguishes this request from another one with the same key
 */
export async function withIdempotency(
  deps: IdempotencyDeps,
  invocation: Invocation,
  agent: Agent,
  content: () => unknown,
  run: () => Promise<InvocationResult>,
): Promise<InvocationResult> {
  if (invocation.idempotencyKey === undefined) return run()
  const claim = toClaim(deps, invocation, invocation.idempotencyKey, agent, content())
  const begun = await deps.context.store.beginIdempotent(claim)
  switch (begun.state) {
    case 'running':
      throw new DirectoryError(
        'conflict',
        'a call with this Idempotency-Key is in progress: repeat the request to get its result',
        { retryAfter: RETRY_SECONDS },
      )
    case 'mismatch':
      throw new DirectoryError(
        'idempotency_mismatch',
        'you have used this Idempotency-Key for a different request: use a new key',
      )
    case 'finished':
      return replay(begun.response)
    case 'begun':
      return runAndStore(deps, claim, run)
  }
}

function toClaim(
  { context, timeoutMs }: IdempotencyDeps,
  { caller, version }: Invocation,
  key: string,
  agent: Agent,
  content: unknown,
): IdempotencyClaim {
  const at = context.now()
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([content, version]))
    .digest('hex')
  return {
    client: caller.subject ?? '',
    // The number distinguishes this agent from a later one of the same name.
    agent: `${agent.number} ${agent.record.id}`,
    key,
    fingerprint,
    at,
    expiresAt: at + timeoutMs + GRACE_MS,
  }
}

/** Stores the result, or the error if the agent may have done the work; otherwise releases the key for a retry. */
async function runAndStore(
  { context: { store, now } }: IdempotencyDeps,
  claim: IdempotencyClaim,
  run: () => Promise<InvocationResult>,
): Promise<InvocationResult> {
  const save = (text: string): Promise<void> => store.finishIdempotent(claim, text, now() + STORED_MS)
  let result: InvocationResult
  try {
    result = await run()
  } catch (error) {
    if (!(error instanceof CallFailed) || !error.mayHaveRun) await store.abandonIdempotent(claim)
    // If the directory stops, nobody knows how the call ended: the reservation expires, as after a crash.
    else if (!isStopping(error)) await save(writeError(error))
    throw error
  }
  await save(writeResult(result))
  return result
}

function writeResult(result: InvocationResult): string {
  const { status, headers } = result
  const text =
    result.kind === 'json'
      ? JSON.stringify({ status, headers, value: result.value })
      : result.kind === 'task'
        ? JSON.stringify({ status, headers, task: result.task })
        : NOT_STORED
  return text.length > MAX_STORED ? NOT_STORED : text
}

const writeError = ({ code, message, status, headers, members, retryAfter }: DirectoryError): string =>
  JSON.stringify({ error: { code, message, status, headers, members, retryAfter } })

function replay(response: string): InvocationResult {
  const stored: unknown = JSON.parse(response)
  const { error, status, headers, value, task } = isObject(stored) ? stored : {}
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
    'the call with this Idempotency-Key has run, but its result was not stored: streams, files and large results are not',
  )
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
