import { readdirSync, readFileSync } from 'node:fs'
import { Agent, get } from 'node:http'

const EVERY_MS = 100

/**
 * Observes the machine: how long /health/live takes, which is not due to the work of another request, and how long the
 * threads of the processes wait for a CPU.
 * @param {readonly number[]} pids the processes that take part
 */
export function startProbe(url, pids) {
  const agent = new Agent({ keepAlive: true })
  const probes = []
  const waits = [{ at: performance.now(), ms: waitedForCpu(pids) }]
  let timer
  const probe = () => {
    const entry = { from: performance.now(), to: Number.POSITIVE_INFINITY }
    probes.push(entry)
    const finish = () => {
      entry.to = performance.now()
      waits.push({ at: entry.to, ms: waitedForCpu(pids) })
      timer = setTimeout(probe, EVERY_MS)
    }
    get(`${url}/health/live`, { agent }, (response) => response.resume().on('end', finish)).on('error', finish)
  }
  probe()
  return {
    /** Milliseconds between two times of `performance.now()` that are due to the machine. */
    lost(from, to) {
      const during = probes.slice(firstIndex(probes, from - 5000)).filter((each) => each.to >= from && each.from <= to)
      const slowest = Math.max(0, ...during.map((each) => Math.min(each.to, to) - each.from))
      const before = waits[Math.max(0, firstIndex(waits, from) - 1)]
      const after = waits.find(({ at }) => at >= to)?.ms ?? waitedForCpu(pids)
      const waited = after - before.ms
      return Math.max(slowest, waited)
    },
    stop() {
      clearTimeout(timer)
      agent.destroy()
    },
  }
}

/** Index of the first entry that began at this time or later; entries are in order. */
function firstIndex(entries, time) {
  let i = entries.length
  while (i > 0 && (entries[i - 1].from ?? entries[i - 1].at) >= time) i--
  return i
}

/** Milliseconds that the threads of these processes were ready to run but waited for a CPU (Linux); elsewhere 0. */
function waitedForCpu(pids) {
  let sum = 0
  for (const pid of pids) {
    try {
      for (const thread of readdirSync(`/proc/${pid}/task`))
        sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[1]) / 1e6
    } catch {
      // not Linux, or a thread that has just ended
    }
  }
  return sum
}
