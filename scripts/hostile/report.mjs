const WORST = 15
const MIB = 1 << 20

export const inMib = (bytes) => `${Math.round(bytes / MIB)} MiB`

/** Collects the results of requests. */
export function createReport() {
  const kinds = new Map()
  const statuses = new Map()
  const errors = new Map()
  const slowest = []
  return {
    add(request, { status, error, ms }) {
      const { kind } = request
      const times = kinds.get(kind) ?? []
      times.push(ms)
      kinds.set(kind, times)
      count(statuses, status ?? 'none')
      if (error) count(errors, `${error} (${kind})`)
      slowest.push({ request, status, ms })
      slowest.sort((a, b) => b.ms - a.ms)
      slowest.length = Math.min(slowest.length, WORST)
    },
    count: () => [...statuses.values()].reduce((sum, n) => sum + n, 0),
    /** Lines for people. */
    lines: () => [
      `statuses: ${[...statuses]
        .sort()
        .map(([status, n]) => `${status}: ${n}`)
        .join(', ')}`,
      `no or incomplete responses: ${[...errors].map(([error, n]) => `${n} × ${error}`).join(', ') || 'none'}`,
      '',
      'slowest kinds (requests, median ms, max ms):',
      ...[...kinds]
        .map(([kind, times]) => ({ kind, times: times.sort((a, b) => a - b) }))
        .sort((a, b) => b.times.at(-1) - a.times.at(-1))
        .slice(0, WORST)
        .map(
          ({ kind, times }) =>
            `  ${kind}: ${times.length}, ${times[times.length >> 1].toFixed(0)}, ${times.at(-1).toFixed(0)}`,
        ),
      '',
      'slowest requests:',
      ...slowest.map(
        ({ request, status, ms }) => `  ${ms.toFixed(0)} ms  ${status ?? 'no status'}  ${describe(request)}`,
      ),
    ],
  }
}

const count = (map, key) => map.set(key, (map.get(key) ?? 0) + 1)

/** One line that says which request it was. */
export function describe({ n, kind, method, path, caller, body }) {
  const size = body === undefined ? '' : `, ${Buffer.byteLength(body)} bytes`
  return `#${n} ${kind}: ${method} ${path.length > 100 ? `${path.slice(0, 100)}…` : path} (${caller}${size})`
}

/** Failures of one sort that are printed. */
const PRINTED = 10

/** Collects what makes the run fail. */
export function createFailures() {
  const failures = new Map()
  return {
    add(sort, detail) {
      failures.set(sort, [...(failures.get(sort) ?? []), detail])
    },
    sorts: () => [...failures.keys()],
    lines: () =>
      [...failures].flatMap(([sort, details]) => [
        `FAILED ${sort}: ${details.length}`,
        ...details.slice(0, PRINTED).map((detail) => `  ${detail}`),
      ]),
  }
}
