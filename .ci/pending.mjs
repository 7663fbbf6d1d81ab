// The conformance vectors that may fail for now (.ci/pending) and the judgement of a run against them.
import { readFileSync } from 'node:fs'

/** Reads `ID  reason` lines: id → reason. Lines that start with # are comments. */
export function readPending(path) {
  const lines = readFileSync(path, 'utf8').split('\n')
  const entries = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(entries.map((line) => /^(\S+)\s*(.*)$/.exec(line).slice(1)))
}

/** Counts a conformance run: what fails must be pending, and what is pending must fail. */
export function judgeVectors(results, pending) {
  const counts = { passed: 0, failed: 0, notes: [] }
  const fault = (note) => {
    counts.failed += 1
    counts.notes.push(note)
  }
  const statuses = new Map(results.map(({ id, status }) => [id, status]))
  for (const [id, status] of statuses) {
    if (pending.has(id)) continue
    if (status === 'passed') counts.passed += 1
    if (status === 'failed') fault(`${id} fails`)
  }
  for (const [id, reason] of pending) {
    const status = statuses.get(id)
    if (status !== 'failed') fault(`${id} is pending but ${status ?? 'unknown'}: take it off .ci/pending`)
    else if (!reason) fault(`${id} is pending without a reason`)
    else counts.notes.push(`pending: ${id}  ${reason}`)
  }
  return counts
}
