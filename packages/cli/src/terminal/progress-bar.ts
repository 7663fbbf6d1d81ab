/** The progress of a long task: a bar on a terminal, otherwise a line from time to time. */
export interface ProgressBar {
  /** Without a total, only the count and the rate are shown. The note says why nothing happens at the moment. */
  show(done: number, total: number | undefined, failed: number, note?: string): void
  /** Removes the bar, to print a line or at the end. */
  clear(): void
}

export interface ProgressScreen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

const WIDTH = 30
/** Carriage return and erase to the end of the line. */
const TO_START = '\r\u001b[K'
/** Milliseconds between two updates of a bar, and between two lines. */
const BAR_MS = 100
const LINE_MS = 10_000

export function createProgressBar(screen: ProgressScreen, now: () => number = () => performance.now()): ProgressBar {
  const rateAt = createRate(now())
  const interval = screen.isTTY ? BAR_MS : LINE_MS
  let shown = ''
  let last = screen.isTTY ? Number.NEGATIVE_INFINITY : now()
  return {
    show(done, expected, failed, note) {
      // An estimate may be too low.
      const total = expected !== undefined && expected < done ? undefined : expected
      const at = now()
      const rate = rateAt(at, done)
      if (at - last < interval) return
      last = at
      const facts = [
        countOf(done, total),
        ...(rate === undefined ? [] : [`${formatRate(rate)}/s`]),
        ...(rate && total !== undefined && total > done ? [`${formatTime((total - done) / rate)} left`] : []),
        ...(failed > 0 ? [`${failed} failed`] : []),
        ...(note === undefined ? [] : [note]),
      ].join(', ')
      if (!screen.isTTY) {
        screen.write(`switchboard: ${facts}\n`)
        return
      }
      shown = `${barOf(done, total)}${facts}`.slice(0, (screen.columns ?? 80) - 1)
      screen.write(TO_START + shown)
    },
    clear() {
      if (shown !== '') screen.write(TO_START)
      shown = ''
      if (screen.isTTY) last = Number.NEGATIVE_INFINITY
    },
  }
}

/** Milliseconds over which the rate is averaged: long enough to be steady, short enough to notice a pause. */
const WINDOW_MS = 15_000
const SAMPLE_MS = 1000

/** The number of items per second, lately; undefined during the first second. */
function createRate(start: number): (at: number, done: number) => number | undefined {
  const samples = [{ at: start, done: 0 }]
  return (at, done) => {
    const newest = samples.at(-1)
    if (newest && at - newest.at >= SAMPLE_MS) samples.push({ at, done })
    while (samples.length > 2 && at - (samples[1]?.at ?? at) >= WINDOW_MS) samples.shift()
    const [oldest] = samples
    if (!oldest || at - oldest.at < SAMPLE_MS) return undefined
    return ((done - oldest.done) * 1000) / (at - oldest.at)
  }
}

const countOf = (done: number, total: number | undefined): string =>
  total === undefined || total === 0 ? `${done} done` : `${done} of ${total}`

function barOf(done: number, total: number | undefined): string {
  if (total === undefined || total === 0) return ''
  const filled = Math.round((Math.min(done, total) / total) * WIDTH)
  return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] `
}

const formatRate = (rate: number): string => (rate < 10 ? rate.toFixed(1) : String(Math.round(rate)))

/** Seconds as text with the two largest units. */
function formatTime(seconds: number): string {
  const s = Math.ceil(seconds)
  if (s < 60) return `${s} s`
  const m = Math.floor(s / 60)
  return m < 60 ? `${m} min ${s % 60} s` : `${Math.floor(m / 60)} h ${m % 60} min`
}
