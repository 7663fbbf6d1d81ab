// Calls: how many, how much later the answer comes, and what they cost.
import { takeTurns } from '../registry/statistics.mjs'

const CONNECTIONS = [1, 32, 256]
/** Milliseconds that each of 32 callers waits between an answer and its next call: 600 calls a second, no queue. */
const PAUSE_MS = 50

/**
 * Results by round for each load and server: callers who ask without pause, and 32 who pause. Without pause everything
 * waits for its turn, and the time an answer takes says how many are served a second, once more; with it, the time is
 * that of the way itself.
 * @returns {Promise<{ connections: number, pauseMs: number, runs: Record<string, any[]> }[]>}
 */
export async function measureCalls({ rounds, seconds }, servers, loads, say) {
  const loadsOf = [
    ...CONNECTIONS.map((connections) => ({ connections, pauseMs: 0 })),
    { connections: 32, pauseMs: PAUSE_MS },
  ]
  const measured = []
  for (const { connections, pauseMs } of loadsOf) {
    say(`${connections} callers${pauseMs > 0 ? ` with ${pauseMs} ms between their calls` : ''}…`)
    const tasks = Object.keys(servers).map((name) => [name, () => loads.call(name, { connections, seconds, pauseMs })])
    measured.push({ connections, pauseMs, runs: await takeTurns(rounds, Object.fromEntries(tasks)) })
  }
  return measured
}
