/** A histogram of durations, in the text format of Prometheus. */
export interface Histogram {
  /** Counts a duration in milliseconds, with the values of the labels in their order. */
  observe(ms: number, ...labels: readonly string[]): void
  /** In seconds, as Prometheus has it. */
  write(): string
}

export interface HistogramOptions {
  readonly name: string
  readonly help: string
  readonly labels?: readonly string[]
  /** Upper bounds in seconds. */
  readonly buckets: readonly number[]
}

interface Series {
  /** `route="/agents",status="2xx"` */
  readonly labels: string
  /** By bucket, those beyond the last bound at the end; not cumulative. */
  readonly counts: number[]
  seconds: number
}

/**
 * Not that of prom-client, which looks up labels and buckets by their text: every request is observed, a call three
 * times.
 */
export function createHistogram({ name, help, labels: names = [], buckets }: HistogramOptions): Histogram {
  const all = new Map<string, Series>()
  const seriesOf = (values: readonly string[]): Series => {
    const key = values.length === 1 ? String(values[0]) : values.join('\n')
    const known = all.get(key)
    if (known) return known
    const labels = names.map((label, i) => `${label}="${escapeValue(values[i] ?? '')}"`).join(',')
    const series = { labels, counts: Array.from({ length: buckets.length + 1 }, () => 0), seconds: 0 }
    all.set(key, series)
    return series
  }
  if (names.length === 0) seriesOf([])

  return {
    observe(ms, ...labels) {
      const series = seriesOf(labels)
      const seconds = ms / 1000
      let at = 0
      while (at < buckets.length && seconds > (buckets[at] ?? 0)) at++
      series.counts[at] = (series.counts[at] ?? 0) + 1
      series.seconds += seconds
    },
    write() {
      const lines = [...all.values()].flatMap((series) => linesOf(name, series, buckets))
      return [`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines, ''].join('\n')
    },
  }
}

function linesOf(name: string, { labels, counts, seconds }: Series, buckets: readonly number[]): string[] {
  let count = 0
  const cumulative = counts.map((each, i) => {
    count += each
    return `${name}_bucket{le="${buckets[i] ?? '+Inf'}"${labels && `,${labels}`}} ${count}`
  })
  const all = labels && `{${labels}}`
  return [...cumulative, `${name}_sum${all} ${seconds}`, `${name}_count${all} ${count}`]
}

const escapeValue = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
