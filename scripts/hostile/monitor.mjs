// Loaded into the directory's process with --import. Observes its event loop and its heap, and reports them over IPC.
import diagnostics from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const TICK_MS = 10
/** Shorter delays are not reported. */
const REPORTED_MS = 50
/** Requests remembered, to name those that may have caused a delay. */
const RECENT = 8

if (isMainThread && process.send) {
  const restart = observeEventLoop()
  process.channel?.unref()
  process.on('message', (message) => {
    if (message !== 'memory') return
    process.send?.({ memory: memoryAfterGc() })
    restart()
  })
}

/** Returns a function that ignores what has happened since the last tick. */
function observeEventLoop() {
  const recent = []
  diagnostics.subscribe('http.server.request.start', ({ request }) => {
    recent.push(request.headers['x-request-id'] ?? `${request.method} ${request.url?.slice(0, 80)}`)
    if (recent.length > RECENT) recent.shift()
  })
  let last = performance.now()
  let cpu = cpuTime()
  const restart = () => {
    last = performance.now()
    cpu = cpuTime()
  }
  setInterval(() => {
    const now = performance.now()
    const nowCpu = cpuTime()
    const late = now - last - TICK_MS
    // What other processes on this machine take is not the directory's fault.
    const blocked = Math.min(late, (nowCpu ?? now) - (cpu ?? last))
    restart()
    if (blocked >= REPORTED_MS) process.send?.({ blocked, late, recent: [...recent] })
  }, TICK_MS).unref()
  return restart
}

/** Milliseconds for which this thread has had a CPU (Linux); undefined where that is unknown. */
function cpuTime() {
  try {
    const [onCpuNs] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')
    return Number(onCpuNs) / 1e6
  } catch {
    return undefined
  }
}

function memoryAfterGc() {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { used: heapUsed + external, rss }
}
