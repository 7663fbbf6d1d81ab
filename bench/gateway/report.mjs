// Formats the measurements as rows of comparisons and as a table of servers.
import { speedRow } from '../registry/report.mjs'
import { median, ratios } from '../registry/statistics.mjs'

export const NAMES = {
  direct: 'no proxy',
  ours: 'switchboard',
  undici: 'bare undici',
  fastify: '@fastify/http-proxy',
  nginx: 'nginx',
}
const MIN_RATIO_TO_UNDICI = 0.5
const MIN_EVENTS_TO_UNDICI = 0.6
const MAX_ADDED_MS = 1
const MAX_GARBAGE_KB = 25
const MAX_SLOWDOWN = 1.5
/** Memory in the last third of a run divided by that in the middle third. */
const MAX_GROWTH = 1.1

const aimOf = (text, met) => ({ aim: { text, met } })
const of = (runs, name) => runs.map((run) => run[name])
const proxies = (runs) => Object.keys(runs).filter((name) => name !== 'direct' && name !== 'ours')
/** Latency added to that of a direct call, in milliseconds, by round. */
const added = (runs, name, quantile) => runs[name].map((run, i) => run[quantile] - runs.direct[i][quantile])

export function callRows(measured) {
  return measured.flatMap(({ connections, pauseMs, runs }) => {
    const what = `${connections} ${connections === 1 ? 'caller' : 'callers'}${pauseMs > 0 ? `, ${pauseMs} ms think time` : ''}`
    const latencies = ['p50', 'p99'].map((quantile) => {
      const ours = added(runs, 'ours', quantile)
      const isAim = pauseMs > 0 && quantile === 'p50'
      return {
        what: `${what}: added ${quantile}`,
        unit: 'ms',
        ours,
        against: NAMES.undici,
        theirs: added(runs, 'undici', quantile),
        ...(isAim && aimOf(`< ${MAX_ADDED_MS} ms`, median(ours) < MAX_ADDED_MS)),
      }
    })
    if (pauseMs > 0) return latencies
    const speeds = proxies(runs).map((name) =>
      speedRow(
        what,
        'calls/s',
        runs.ours,
        NAMES[name],
        runs[name],
        name === 'undici' ? MIN_RATIO_TO_UNDICI : undefined,
      ),
    )
    return [...speeds, ...latencies]
  })
}

export function streamRows({ first, fast, open }, streams) {
  const delays = proxies(first).map((name) => ({
    what: 'stream: first event',
    unit: 'ms',
    ours: of(first.ours, 'p50'),
    against: NAMES[name],
    theirs: of(first[name], 'p50'),
  }))
  const speeds = proxies(fast).map((name) =>
    speedRow(
      'stream',
      'events/s',
      fast.ours,
      NAMES[name],
      fast[name],
      name === 'undici' ? MIN_EVENTS_TO_UNDICI : undefined,
    ),
  )
  const memory = proxies(open).map((name) => ({
    what: `memory with ${streams} streams open`,
    unit: 'MiB',
    ours: [open.ours.during],
    against: NAMES[name],
    theirs: [open[name].during],
  }))
  return [...delays, ...speeds, ...memory]
}

export function garbageRows({ ours, undici }) {
  const row = (what, of) => ({
    what: `garbage of ${what}`,
    unit: 'KB',
    ours: [ours[of] / 1000],
    against: NAMES.undici,
    theirs: [undici[of] / 1000],
  })
  const met = ours.call / 1000 < MAX_GARBAGE_KB
  return [{ ...row('a call', 'call'), ...aimOf(`< ${MAX_GARBAGE_KB} KB`, met) }, row('an event', 'event')]
}

export function memoryRow({ samples, calls }) {
  const third = Math.floor(samples.length / 3)
  const early = median(samples.slice(third, 2 * third))
  const late = median(samples.slice(-third))
  return {
    what: `memory after ${calls} calls`,
    unit: 'MiB',
    ours: [late],
    against: 'middle third',
    theirs: [early],
    ...aimOf(`≤ ${MAX_GROWTH}`, late / early <= MAX_GROWTH),
  }
}

export function slowRows({ undisturbed, disturbed }) {
  return ['p50', 'p99'].map((quantile) => {
    const [ours, theirs] = [of(disturbed, quantile), of(undisturbed, quantile)]
    return {
      what: `next to a slow agent: ${quantile}`,
      unit: 'ms',
      ours,
      against: 'undisturbed',
      theirs,
      ...(quantile === 'p99' && aimOf(`≤ ${MAX_SLOWDOWN}`, median(ratios(ours, theirs)) <= MAX_SLOWDOWN)),
    }
  })
}

/** One line for each server, with the medians of the rounds. */
export function serverTable(measured, { first, fast, open }) {
  const head = ['', ...measured.flatMap(toHead), 'first event', 'events/s', 'µs/event', 'MiB']
  const rows = Object.keys(first).map((name) => [
    NAMES[name],
    ...measured.flatMap(({ pauseMs, runs }) => {
      const figure = (key) => median(of(runs[name], key) ?? [])
      const times = [`${figure('p50').toFixed(2)} / ${figure('p99').toFixed(1)}`]
      return pauseMs > 0 ? times : [Math.round(figure('perSecond')), ...times, micros(figure('cpuMicros'))]
    }),
    median(of(first[name], 'p50')).toFixed(2),
    Math.round(median(of(fast[name], 'perSecond'))),
    micros(median(of(fast[name], 'cpuMicros'))),
    Math.round(open[name].during),
  ])
  return toLines([head, ...rows].map((row) => row.map(String)))
}

const toHead = ({ connections, pauseMs }) =>
  pauseMs > 0 ? [`${connections} paced: p50/p99`] : [`${connections}: calls/s`, 'p50/p99', 'µs/call']

const micros = (value) => (value === undefined || Number.isNaN(value) ? '' : Math.round(value))

function toLines(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  return rows
    .map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  '))
    .join('\n')
}
