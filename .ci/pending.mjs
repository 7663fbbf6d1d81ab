// The conformance vectors that may fail for now (.ci/pending), and how a run is compared with them.
import { readFileSync } from 'node:fs'

/** Reads `ID  reason` lines: id → reason. Lines that start with # are comments. */
export function readPending(path) {
  const lines = readFileSync(path, 'utf8').split('\n')
  const entries = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(entries.map((line) => /^(\S+)\s*(.*)$/.exec(line).slice(1)))
}

/** Counts a conformance run. A failing vector must be pending, and a pending vector must fail. */
export function judgeVectors(results, pending) {
  const counts = { passed: 0, failed: 0, notes: [] }
  const fail = (note) => {
    counts.failed += 1
    counts.notes.push(note)
  }
  const statuses = new Map(results.map(({ id, status }) => [id, status]))
  for (const [id, status] of statuses) {
    if (pending.has(id)) continue
    if (status === 'passed') counts.passed += 1
    if (status === 'failed') fail(`${id} fails`)
  }
  for (const [id, reason] of pending) {
    const status = statuses.get(id)
    if (status !== 'failed') fail(`${id} is pending but ${status ?? 'unknown'}: remove it from .ci/pending`)
    else if (!reason) fail(`${id} is pending without a reason`)
    else counts.notes.push(`pending: ${id}  ${reason}`)
  }
  return counts
}
