import { DirectoryError, ERROR_KINDS, type ErrorCode, isObject, type JsonObject } from '@switchboard/protocol'
import type { IdempotencyClaim, Store } from '../../../store/store.js'
import type { Invoked } from '../request/invocation.js'
import { CallFailed } from '../response/call-failed.js'

/** Milliseconds that an answer is kept for its key (C-61). */
const KEPT_MS = 86_400_000
/** Characters of an answer; of larger ones it is remembered only that they were given. */
const MAX_ANSWER = 262_144
/** Seconds until a call that is under way is worth asking for again. */
const RETRY_SECONDS = 1
const REPLAYED = { 'idempotent-replayed': 'true' }

/** Milliseconds beyond the call's own limit after which whoever began it is taken for gone, and the key is free. */
const GRACE_MS = 60_000

export type Claim = Omit<IdempotencyClaim, 'at' | 'expiresAt'>

/** Work that is done once for its key, however often and from wherever it is asked for (C-61). */
export type Once = (claim: Claim, work: () => Promise<Invoked>) => Promise<Invoked>

export interface OnceDeps {
  readonly store: Store
  readonly now: () => number
  /** Milliseconds that the work takes at most. */
  readonly timeoutMs: number
}

export function createOnce({ store, now, timeoutMs }: OnceDeps): Once {
  return async (wish, work) => {
    const at = now()
    const claim = { ...wish, at, expiresAt: at + timeoutMs + GRACE_MS }
    const begun = await store.beginIdempotent(claim)
    switch (begun.state) {
      case 'running':
        throw new DirectoryError(
          'conflict',
          'a call with this Idempotency-Key is under way: ask again for its answer',
          {
            retryAfter: RETRY_SECONDS,
          },
        )
      case 'mismatch':
        throw new DirectoryError('idempotency_mismatch', 'this Idempotency-Key was used for another request of yours')
      case 'finished':
        return replay(begun.response)
      case 'begun':
        return remember({ store, now }, claim, work)
    }
  }
}

/** A call that nothing came of is forgotten, so that a retry may run. */
async function remember(
  { store, now }: Pick<OnceDeps, 'store' | 'now'>,
  claim: IdempotencyClaim,
  work: () => Promise<Invoked>,
): Promise<Invoked> {
  const keep = (text: string): Promise<void> => store.finishIdempotent(claim, text, now() + KEPT_MS)
  let invoked: Invoked
  try {
    invoked = await work()
  } catch (error) {
    if (error instanceof CallFailed && error.mayHaveRun) await keep(writeError(error))
    else await store.abandonIdempotent(claim)
    throw error
  }
  await keep(writeAnswer(invoked))
  return invoked
}

function writeAnswer(invoked: Invoked): string {
  const { status, headers } = invoked
  const text =
    invoked.kind === 'json'
      ? JSON.stringify({ status, headers, value: invoked.value })
      : invoked.kind === 'task'
        ? JSON.stringify({ status, headers, task: invoked.task })
        : NOT_KEPT
  return text.length > MAX_ANSWER ? NOT_KEPT : text
}

const NOT_KEPT = '{}'

const writeError = ({ code, message, status, headers, members, retryAfter }: DirectoryError): string =>
  JSON.stringify({ error: { code, message, status, headers, members, retryAfter } })

function replay(response: string): Invoked {
  const kept: unknown = JSON.parse(response)
  const { error, status, headers, value, task } = isObject(kept) ? kept : {}
  if (isObject(error)) throw readError(error)
  const common = { status: Number(status), headers: { ...textsOf(headers), ...REPLAYED } }
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
  throw new DirectoryError('conflict', 'the call with this Idempotency-Key has run; its answer was not one to be kept')
}

function readError({ code, message, status, headers, members, retryAfter }: JsonObject): DirectoryError {
  const known = Object.keys(ERROR_KINDS).find((kind): kind is ErrorCode => kind === code) ?? 'agent_error'
  return new DirectoryError(known, String(message), {
    status: Number(status),
    headers: { ...textsOf(headers), ...REPLAYED },
    ...(isObject(members) && { members }),
    ...(typeof retryAfter === 'number' && { retryAfter }),
  })
}

const textsOf = (value: unknown): Record<string, string> =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, text]) => [name, String(text)])) : {}
