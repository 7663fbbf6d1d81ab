// Loaded into a server with `--import`: SIGUSR2 starts to count the bytes that its main thread allocates on the heap, or
// stops and writes their number to BENCH_GARBAGE_FILE.
import { writeFileSync } from 'node:fs'
import { GCProfiler } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

let running

const usedBytes = () => process.memoryUsage().heapUsed

/** What was allocated between two collections is what the heap grew by from the end of one to the start of the next. */
function allocatedIn({ profiler, used }) {
  let allocated = 0
  let before = used
  for (const { beforeGC, afterGC } of profiler.stop().statistics) {
    allocated += beforeGC.heapStatistics.usedHeapSize - before
    before = afterGC.heapStatistics.usedHeapSize
  }
  return allocated + usedBytes() - before
}

function toggle() {
  if (running) {
    writeFileSync(process.env.BENCH_GARBAGE_FILE, String(allocatedIn(running)))
    running = undefined
    return
  }
  running = { profiler: new GCProfiler(), used: usedBytes() }
  running.profiler.start()
}

if (isMainThread) process.on('SIGUSR2', toggle)
