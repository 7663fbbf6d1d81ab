// Formats results as a table.
import { median, ratios } from './statistics.mjs'

/**
 * @typedef {object} Row
 * @property {string} what
 * @property {string} unit
 * @property {number[]} ours by round
 * @property {string} [against]
 * @property {number[]} [theirs] by round
 * @property {{ text: string, met: boolean }} [aim]
 * @property {number} [cpuRatio] the ratio in CPU time
 * @property {{ p50: number, p99: number, cpuMicros?: number }} [request] ours: latency in ms, CPU in µs
 */

/** A row that compares throughput; `minRatio` is the target. */
export function speedRow(what, unit, ours, against, theirs, minRatio) {
  const [own, other] = [ours, theirs].map((runs) => runs.map(({ perSecond }) => perSecond))
  const [ownCpu, otherCpu] = [ours, theirs].map((runs) => runs.map(({ cpuMicros }) => cpuMicros))
  const told = ownCpu.every(Boolean) && otherCpu.every(Boolean)
  return {
    what,
    unit,
    ours: own,
    against,
    theirs: other,
    ...(told && { cpuRatio: median(ratios(otherCpu, ownCpu)) }),
    request: Object.fromEntries(
      ['p50', 'p99', 'cpuMicros'].map((name) => [name, median(ours.map((run) => run[name] ?? Number.NaN))]),
    ),
    ...(minRatio !== undefined && {
      aim: { text: `≥ ${minRatio.toFixed(2)}`, met: median(ratios(own, other)) >= minRatio },
    }),
  }
}

/** A row as plain figures for JSON. */
export function figures({ what, unit, ours, against, theirs, aim, cpuRatio, request }) {
  const ratio = theirs && ratios(ours, theirs)
  return {
    what,
    unit,
    ours: median(ours),
    rounds: ours,
    ...(theirs && {
      against,
      theirs: median(theirs),
      theirRounds: theirs,
      ratio: median(ratio),
      spread: [Math.min(...ratio), Math.max(...ratio)],
    }),
    ...(cpuRatio !== undefined && { cpuRatio }),
    ...(request && { request }),
    ...(aim && { aim: aim.text, met: aim.met }),
  }
}

const number = (value) => value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 0 })

/** Aligns columns: the first and the third to the left, others to the right. */
export function toTable(rows) {
  const head = ['', 'ours', 'against', 'theirs', 'ratio', 'spread', 'by CPU', 'target', '']
  const cells = rows
    .map(figures)
    .map((row) => [
      `${row.what}${row.unit ? `, ${row.unit}` : ''}`,
      number(row.ours),
      row.against ?? '',
      row.theirs === undefined ? '' : number(row.theirs),
      row.ratio?.toFixed(2) ?? '',
      row.spread ? row.spread.map((value) => value.toFixed(2)).join('–') : spreadOf(row.rounds),
      row.cpuRatio?.toFixed(2) ?? '',
      row.aim ?? '',
      row.met === undefined ? '' : row.met ? 'met' : 'missed',
    ])
  const widths = head.map((_, column) => Math.max(...[head, ...cells].map((row) => row[column].length)))
  const left = new Set([0, 2, 8])
  const line = (row) =>
    row.map((text, i) => (left.has(i) ? text.padEnd(widths[i]) : text.padStart(widths[i]))).join('  ')
  return [head, ...cells].map((row) => line(row).trimEnd()).join('\n')
}

const spreadOf = (values) => (values.length > 1 ? `${number(Math.min(...values))}–${number(Math.max(...values))}` : '')
