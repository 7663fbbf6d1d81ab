import { DirectoryError, isObject, type JsonValue } from '@switchboard/protocol'
import type { Usage } from '../store/store.js'

/** How much one owner may register. */
export interface Quota {
  readonly agents: number
  /** As `memoryOf` counts them. */
  readonly bytes: number
}

/** Bytes that a JSON value takes in memory besides its text: measured, for objects whose members all have other names. */
const BYTES_PER_VALUE = 150

/**
 * Estimates the memory of a document in bytes: its names and strings, and a fixed number for each value. Lists of tiny
 * values take many times the bytes of their JSON text, so the length of the text would be no limit.
 */
export function memoryOf(value: JsonValue): number {
  if (typeof value === 'string') return BYTES_PER_VALUE + value.length
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + memoryOf(item), BYTES_PER_VALUE)
  if (!isObject(value)) return BYTES_PER_VALUE
  let sum = BYTES_PER_VALUE
  for (const [name, item] of Object.entries(value)) sum += name.length + memoryOf(item)
  return sum
}

/** Throws `quota_exceeded` if the growth does not fit into the quota. What does not grow is always allowed. */
export function assertWithinQuota(owner: string, quota: Quota, usage: Usage, growth: Usage): void {
  for (const unit of ['agents', 'bytes'] as const) {
    const needed = usage[unit] + growth[unit]
    if (growth[unit] <= 0 || needed <= quota[unit]) continue
    throw new DirectoryError(
      'quota_exceeded',
      `"${owner}" may register ${quota[unit]} ${UNITS[unit]} and would have ${needed}: remove agents or shorten documents, or ask the operator of this directory for a larger quota (quotas.${unit})`,
      { members: { quota: { name: unit, limit: quota[unit], used: usage[unit], requested: growth[unit] } } },
    )
  }
}

const UNITS = { agents: 'agents', bytes: 'bytes of documents' }
