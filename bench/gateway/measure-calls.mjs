// Calls: throughput, added latency and CPU time.
import { interleave } from '../registry/statistics.mjs'

const CONNECTIONS = [1, 32, 256]
/** Think time of 32 callers, in milliseconds: gives about 600 calls per second, without queueing. */
const PAUSE_MS = 50

/**
 * Results by round for each load and server. Callers without think time queue, so their latency only restates the
 * throughput; with think time the latency is that of the call itself.
 * @returns {Promise<{ connections: number, pauseMs: number, runs: Record<string, any[]> }[]>}
 */
export async function measureCalls({ rounds, seconds }, servers, loads, say) {
  const loadsOf = [
    ...CONNECTIONS.map((connections) => ({ connections, pauseMs: 0 })),
    { connections: 32, pauseMs: PAUSE_MS },
  ]
  const measured = []
  for (const { connections, pauseMs } of loadsOf) {
    say(`${connections} callers${pauseMs > 0 ? ` with ${pauseMs} ms of think time` : ''}…`)
    const tasks = Object.keys(servers).map((name) => [name, () => loads.call(name, { connections, seconds, pauseMs })])
    measured.push({ connections, pauseMs, runs: await interleave(rounds, Object.fromEntries(tasks)) })
  }
  return measured
}
