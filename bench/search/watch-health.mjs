import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from './timing.mjs'

const PAUSE_MS = 5

/** Asks for the health of the directory all the time; the returned function ends it and tells how long responses took. */
export function watchHealth(port) {
  const times = []
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      const started = performance.now()
      await (await fetch(`http://127.0.0.1:${port}/health/live`)).arrayBuffer()
      times.push(performance.now() - started)
      await sleep(PAUSE_MS)
    }
  })()
  return async () => {
    isOver = true
    await watching
    return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) }
  }
}
