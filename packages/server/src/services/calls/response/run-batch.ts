import { DirectoryError, errorBody, type JsonObject, type JsonValue } from '@switchboard/protocol'

/** Inputs of one batch (C-60). */
export const MAX_BATCH = 100
/** Calls of one batch under way at a time: others want the agent too. */
const PARALLEL = 8

/** What became of one input. */
export type ItemResult =
  | { readonly ok: true; readonly value: JsonValue; readonly fits: boolean }
  | { readonly ok: false; readonly error: DirectoryError }

/** Carries out independent work, some at a time, and keeps the order; what fails does not spoil the rest. */
export async function runBatch<T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<ItemResult>,
): Promise<ItemResult[]> {
  const results: ItemResult[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    for (let i = next++; i < items.length; i = next++) results[i] = await work(items[i] as T, i)
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL, items.length) }, worker))
  return results
}

/** The status and body of a batch: 200 if all went well, the first one's status if none did, else 207. */
export function toBatchAnswer(results: readonly ItemResult[]): { status: number; value: JsonValue } {
  const failures = results.filter((result) => !result.ok)
  const [first] = failures
  const status = first === undefined ? 200 : failures.length < results.length ? 207 : first.error.status
  return { status, value: results.map((result) => (result.ok ? result.value : errorItem(result.error))) }
}

/** An item that failed: the error object alone, without what an answer of its own would say. */
function errorItem(error: DirectoryError): JsonObject {
  const { error: object = null } = errorBody(error, { base: '', instance: '', correlationId: '' })
  return { error: object }
}

export function assertBatchSize(size: number): void {
  if (size <= MAX_BATCH) return
  throw new DirectoryError(
    'payload_too_large',
    `a batch of ${size} inputs is too large: send at most ${MAX_BATCH} at a time`,
  )
}
