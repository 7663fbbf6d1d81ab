import { createHash } from 'node:crypto'
import { DirectoryError } from '@switchboard/protocol'
import type { IdempotencyClaim } from '../../../store/store.js'
import type { Agent } from '../../registry/catalog.js'
import type { CallDeps } from '../call-deps.js'
import type { Invocation } from '../request/invocation.js'
import { CallFailed, isStopping } from '../response/call-failed.js'
import type { InvocationResult } from '../response/invocation-result.js'
import { STORED_MS } from './result-quota.js'
import { readOutcome, writeOutcome } from './stored-result.js'

/** Retry-After in seconds while the call is in progress. */
const RETRY_SECONDS = 1
/** Milliseconds beyond the call's timeout after which the process that began it is assumed dead and the key is free. */
const GRACE_MS = 60_000

type IdempotencyDeps = Pick<CallDeps, 'context' | 'timeoutMs' | 'resultQuota'>

/**
 * Runs a call once for its Idempotency-Key, across all replicas (C-61): a repeated request gets the stored result.
 * Without a key the call simply runs.
 *
 * @param content what distinguishes this request from another one with the same key
 */
export const withIdempotency = (
  deps: IdempotencyDeps,
  invocation: Invocation,
  agent: Agent,
  content: () => unknown,
  run: () => Promise<InvocationResult>,
): Promise<InvocationResult> =>
  invocation.idempotencyKey === undefined
    ? run()
    : runOnce(deps, toClaim(deps, invocation, invocation.idempotencyKey, agent, content()), run)

async function runOnce(
  deps: IdempotencyDeps,
  claim: IdempotencyClaim,
  run: () => Promise<InvocationResult>,
): Promise<InvocationResult> {
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
      return readOutcome(begun.response, deps.resultQuota)
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
  { context: { store, now }, resultQuota }: IdempotencyDeps,
  claim: IdempotencyClaim,
  run: () => Promise<InvocationResult>,
): Promise<InvocationResult> {
  const save = async (outcome: InvocationResult | DirectoryError): Promise<void> =>
    store.finishIdempotent(claim, await writeOutcome(outcome, claim.client, resultQuota), now() + STORED_MS)
  let result: InvocationResult
  try {
    result = await run()
  } catch (error) {
    if (!(error instanceof CallFailed) || !error.mayHaveRun) await store.abandonIdempotent(claim)
    // If the directory stops, nobody knows how the call ended: the reservation expires, as after a crash.
    else if (!isStopping(error)) await save(error)
    throw error
  }
  await save(result)
  return result
}
