import { DirectoryError, isObject, type JsonValue } from '@switchboard/protocol'
import type { Target } from './admission/target.js'
import type { Invocation, Invoked } from './request/invocation.js'
import { isMarked } from './request/media-types.js'
import type { ReadyCall } from './request/ready-call.js'
import { type SettleDeps, settleCall } from './request/settle-call.js'
import { CallFailed, fromErrorInside } from './response/call-failed.js'
import { doesNotFit, errorOf } from './response/guard-parts.js'
import { assertBatchSize, type ItemResult, runBatch, toBatchAnswer } from './response/run-batch.js'
import { callOff } from './sending/defer-call.js'
import { type RunDeps, runCall } from './sending/run-call.js'

export interface BatchDeps extends RunDeps {
  readonly settling: SettleDeps
  /** Milliseconds for the whole batch. */
  readonly timeoutMs: number
}

/** Several independent inputs in one request (AIDIP §5.3, C-60). */
export async function invokeBatch(
  deps: BatchDeps,
  invocation: Invocation,
  target: Target,
  values: readonly JsonValue[],
): Promise<Invoked> {
  assertBatchSize(values.length)
  // The request itself has been counted as one.
  if (values.length > 1) invocation.spend(values.length - 1)
  const items = values.map((value, i) => settleItem(deps, invocation, target, value, i))
  const together = asOneCall(invocation, target, items)
  const results = together ? await runTogether(deps, invocation, together) : await runApart(deps, invocation, items)
  const { status, value } = toBatchAnswer(results)
  const isUnfit = results.some((result) => result.ok && !result.fits)
  return { kind: 'json', status, value, headers: isUnfit ? { 'x-output-valid': 'false' } : {} }
}

type Item = ReadyCall | DirectoryError

/** An input that is not fit to be sent is an item that has failed. */
function settleItem(
  { settling }: BatchDeps,
  invocation: Invocation,
  target: Target,
  value: JsonValue,
  i: number,
): Item {
  // Two inputs under one key would look like one to the agent.
  const { idempotencyKey: key } = invocation
  const own = { ...invocation, ...(key !== undefined && { idempotencyKey: `${key}-${i}` }) }
  try {
    return { ...settleCall(settling, own, target, { kind: 'json', value }), wantsStream: false }
  } catch (error) {
    if (error instanceof DirectoryError) return error
    throw error
  }
}

async function runApart(deps: BatchDeps, { signal }: Invocation, items: readonly Item[]): Promise<ItemResult[]> {
  const ends = performance.now() + deps.timeoutMs
  return runBatch(items, async (item) => {
    if (item instanceof DirectoryError) return { ok: false, error: item }
    const timeoutMs = Math.ceil(ends - performance.now())
    if (timeoutMs <= 0) return { ok: false, error: tooLate() }
    return runOne(deps, item, timeoutMs, signal)
  })
}

async function runOne(deps: BatchDeps, item: ReadyCall, timeoutMs: number, signal: AbortSignal): Promise<ItemResult> {
  try {
    const answer = await runCall(deps, item, { timeoutMs, signal })
    if (answer.kind === 'json') return { ok: true, value: answer.value, fits: answer.fits }
    if (answer.kind === 'bytes') answer.body.destroy()
    if (answer.kind === 'task') callOff(deps, item, answer.task)
    return { ok: false, error: noJson() }
  } catch (error) {
    if (error instanceof DirectoryError) return { ok: false, error }
    throw error
  }
}

const tooLate = (): DirectoryError =>
  new CallFailed('timeout', 'the batch took too long: this input was not sent', { mayHaveRun: false })
const noJson = (): DirectoryError => errorOf('the agent did not answer with JSON, which a batch is made of')

/** A batch in one call of the agent. */
interface Together extends ReadyCall {
  readonly inputs: JsonValue[]
}

/** The calls of a batch as one, for agents that say they take arrays; only if all are for one operation and fit. */
function asOneCall(
  { idempotencyKey: key }: Invocation,
  { record, agent }: Target,
  items: readonly Item[],
): Together | undefined {
  const [first] = items
  if (!first || first instanceof DirectoryError || !isMarked(record, first.operation, 'batch')) return undefined
  const values: JsonValue[] = []
  for (const item of items) {
    if (item instanceof DirectoryError || item.operation !== first.operation || item.payload.kind !== 'json')
      return undefined
    values.push(item.payload.value)
  }
  // In an array there is no place for the name but in each item.
  const { name, endpoint } = first.operation
  const isNamed = endpoint === undefined && agent.record.operations.length > 1
  const named = isNamed ? values.map((value) => (isObject(value) ? { operation: name, ...value } : value)) : values
  return {
    ...first,
    headers: { ...first.headers, ...(key !== undefined && { 'idempotency-key': key }) },
    inputs: named,
  }
}

/** An agent's own batch: its array has a result for each input, and an error object where one failed. */
async function runTogether(deps: BatchDeps, { signal }: Invocation, together: Together): Promise<ItemResult[]> {
  const { inputs, ...first } = together
  const { operation } = first
  // Each item is held against the schema by itself.
  const ready = {
    ...first,
    payload: { kind: 'json', value: inputs },
    operation: { ...operation, outputs: {} },
  } as const
  const answer = await runCall(deps, ready, { timeoutMs: deps.timeoutMs, signal })
  const results = answer.kind === 'json' && Array.isArray(answer.value) ? answer.value : undefined
  if (results?.length !== inputs.length)
    throw errorOf('the agent did not answer the batch with a result for each input')
  return results.map((value): ItemResult => {
    const failed = fromErrorInside(value)
    if (failed) return { ok: false, error: failed }
    const fits = deps.context.schemas.check(operation.outputs, value).length === 0
    return fits || !deps.strictOutputs ? { ok: true, value, fits } : { ok: false, error: doesNotFit() }
  })
}
