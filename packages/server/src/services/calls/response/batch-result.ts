import type { DirectoryError, JsonValue } from '@switchboard/protocol'
import { errorObject } from './call-failed.js'
import type { InvocationResult } from './invocation-result.js'

/** The result of one input of a batch. */
export type ItemResult =
  | { readonly ok: true; readonly value: JsonValue; readonly isValid: boolean }
  | { readonly ok: false; readonly error: DirectoryError }

/** The result of a batch: 200 if all inputs succeeded, 207 if some did, otherwise the status of the first failure (C-60). */
export function toBatchResult(items: readonly ItemResult[]): InvocationResult {
  const failures = items.filter((item) => !item.ok)
  const [first] = failures
  const status = first === undefined ? 200 : failures.length < items.length ? 207 : first.error.status
  const value = items.map((item) => (item.ok ? item.value : { error: errorObject(item.error) }))
  const isInvalid = items.some((item) => item.ok && !item.isValid)
  return { kind: 'json', status, value, headers: isInvalid ? { 'x-output-valid': 'false' } : {} }
}
