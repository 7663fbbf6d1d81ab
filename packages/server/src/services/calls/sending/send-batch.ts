import { DirectoryError, isObject, type JsonValue } from '@switchboard/protocol'
import { mapInSlices } from '../../time-slices.js'
import type { Admission } from '../admission/admit.js'
import { type PreparedCall, prepareCall } from '../admission/prepare-call.js'
import type { CallDeps } from '../call-deps.js'
import { isMarked } from '../request/choose-operation.js'
import type { Invocation } from '../request/invocation.js'
import { type ItemResult, toBatchResult } from '../response/batch-result.js'
import { agentFailed, CallFailed, fromErrorInside, invalidOutput, isAtOwnLimit } from '../response/call-failed.js'
import type { InvocationResult } from '../response/invocation-result.js'
import { createJoinedSize } from '../response/joined-size.js'
import { hasValidOutput, toResult } from '../response/to-result.js'
import { cancelInBackground } from './defer-call.js'
import { agentTaskOf, sendCall } from './send-call.js'

/** Most inputs of one batch (C-60). */
const MAX_BATCH = 100
/** Concurrent calls of one batch, so that it does not use up the agent's capacity. */
const MAX_CONCURRENT = 8

/** Steps for checking all inputs, or all outputs, of a batch against a schema: a tenth of a second. */
const BATCH_STEPS = 1_000_000
/** Steps that each of them has: many times what real values need. */
const MIN_STEPS = 10_000

const stepsOfEach = (length: number): number => Math.max(MIN_STEPS, Math.floor(BATCH_STEPS / Math.max(length, 1)))

/** Sends several independent inputs of one request (AIDIP §5.3, C-60). */
export async function sendBatch(
  deps: CallDeps,
  invocation: Invocation,
  admission: Admission,
  values: readonly JsonValue[],
): Promise<InvocationResult> {
  const { length } = values
  if (length > MAX_BATCH)
    throw new DirectoryError(
      'payload_too_large',
      `a batch of ${length} inputs is too large: send at most ${MAX_BATCH} at a time`,
    )
  // The request itself has been counted as one call.
  if (length > 1) await invocation.spend(length - 1)
  const steps = stepsOfEach(length)
  const items = await mapInSlices(values, (value, index) =>
    prepareItem(deps, invocation, admission, { value, index, steps }),
  )
  const whole = asOneCall(invocation, items)
  return toBatchResult(whole ? await sendWhole(deps, whole) : await sendItems(deps, items))
}

/** A prepared call, or why the input cannot be sent. */
type Item = PreparedCall | DirectoryError

function prepareItem(
  deps: CallDeps,
  invocation: Invocation,
  admission: Admission,
  { value, index, steps }: { value: JsonValue; index: number; steps: number },
): Item {
  // With the same key, the agent would take two inputs for one.
  const { idempotencyKey: key } = invocation
  const own = key === undefined ? invocation : { ...invocation, idempotencyKey: `${key}-${index}` }
  try {
    return { ...prepareCall(deps, own, admission, { kind: 'json', value }, steps), wantsStream: false }
  } catch (error) {
    if (error instanceof DirectoryError) return error
    throw error
  }
}

async function sendItems(deps: CallDeps, items: readonly Item[]): Promise<ItemResult[]> {
  const deadline = performance.now() + deps.timeoutMs
  const excessWith = createJoinedSize(deps.maxResponseValues)
  /** What is allowed, once the outputs are too large together: further inputs are not sent. */
  let allowed: string | undefined
  const send = async (item: Item): Promise<ItemResult> => {
    if (item instanceof DirectoryError) return { ok: false, error: item }
    if (allowed !== undefined) return { ok: false, error: tooLarge(allowed, { mayHaveRun: false }) }
    const timeoutMs = Math.ceil(deadline - performance.now())
    if (timeoutMs <= 0) return { ok: false, error: tooLate() }
    const result = await sendItem(deps, { ...item, timeoutMs })
    if (!result.ok) return result
    allowed ??= excessWith(result.value)
    return allowed === undefined ? result : { ok: false, error: tooLarge(allowed, { mayHaveRun: true }) }
  }
  // At the caller's own limit, an item waits for another one of the batch to end.
  return mapConcurrently(items, MAX_CONCURRENT, send, (result) => !result.ok && isAtOwnLimit(result.error))
}

/**
 * Maps items in order, with a limited number in progress. An item whose result `isTooMany` is mapped again, with one less
 * in progress, unless it is the only one.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T) => Promise<R>,
  isTooMany: (result: R) => boolean,
): Promise<R[]> {
  const results: R[] = []
  const waiting = [...items.entries()]
  let workers = Math.min(limit, items.length)
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [i, item] = next
      const result = await map(item)
      if (workers > 1 && isTooMany(result)) {
        waiting.unshift(next)
        break
      }
      results[i] = result
    }
    workers--
  }
  await Promise.all(Array.from({ length: workers }, work))
  return results
}

async function sendItem(deps: CallDeps, call: PreparedCall): Promise<ItemResult> {
  try {
    const response = await sendCall(deps, call)
    if (response.kind === 'task') {
      cancelInBackground(deps, call, agentTaskOf(response))
      return { ok: false, error: notJson() }
    }
    const result = await toResult(deps, call, response)
    if (result.kind === 'json') return { ok: true, value: result.value, isValid: hasValidOutput(result) }
    if (result.kind === 'bytes') result.body.destroy()
    return { ok: false, error: notJson() }
  } catch (error) {
    if (error instanceof DirectoryError) return { ok: false, error }
    throw error
  }
}

const tooLate = (): CallFailed =>
  new CallFailed('timeout', 'the batch took too long: this input was not sent', { mayHaveRun: false })
const tooLarge = (allowed: string, { mayHaveRun }: { mayHaveRun: boolean }): CallFailed =>
  new CallFailed(
    'payload_too_large',
    `the outputs of the batch are too large together, at most ${allowed} are allowed: ${mayHaveRun ? 'this one is left out' : 'this input was not sent'}; send fewer inputs at a time`,
    { mayHaveRun },
  )
const notJson = (): CallFailed => agentFailed('the agent did not return JSON, which a batch requires')

/** One call for the whole batch, for agents that accept arrays; only if all inputs are valid and for one operation. */
function asOneCall({ idempotencyKey: key }: Invocation, items: readonly Item[]): PreparedCall | undefined {
  const [first] = items
  if (!first || first instanceof DirectoryError || !isMarked(first.record, first.operation, 'batch')) return undefined
  const { agent, operation, headers } = first
  const values: JsonValue[] = []
  for (const item of items) {
    if (item instanceof DirectoryError || item.operation !== operation || item.payload.kind !== 'json') return undefined
    values.push(item.payload.value)
  }
  // An array has no member for the name of the operation, so each input carries it.
  const { name, endpoint } = operation
  const isNamed = endpoint === undefined && agent.record.operations.length > 1
  const named = isNamed ? values.map((value) => (isObject(value) ? { operation: name, ...value } : value)) : values
  return {
    ...first,
    headers: { ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
    payload: { kind: 'json', value: named },
  }
}

/** Sends a batch to an agent that accepts arrays: it returns an array of results, with an error object for each failure. */
async function sendWhole(deps: CallDeps, call: PreparedCall): Promise<ItemResult[]> {
  const { operation, payload } = call
  const response = await sendCall(deps, call)
  // The schema describes the output of one input, not of the batch.
  const unchecked = { ...call, operation: { ...operation, outputs: {} } }
  const result = response.kind === 'task' ? undefined : await toResult(deps, unchecked, response)
  const outputs = result?.kind === 'json' && Array.isArray(result.value) ? result.value : undefined
  const inputs = payload.kind === 'json' && Array.isArray(payload.value) ? payload.value : []
  if (outputs?.length !== inputs.length)
    throw agentFailed('the agent did not return one result for each input of the batch')
  const steps = stepsOfEach(outputs.length)
  return mapInSlices(outputs, (value): ItemResult => {
    const error = fromErrorInside(value)
    if (error) return { ok: false, error }
    const isValid = deps.context.schemas.check(operation.outputs, value, steps).length === 0
    return isValid || !deps.strictOutputs ? { ok: true, value, isValid } : { ok: false, error: invalidOutput() }
  })
}
