// Loaded into a directory with `--import`: SIGUSR2 starts a CPU profile of every thread, or stops and writes it.
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import threads, { isMainThread } from 'node:worker_threads'

const INTERVAL_MICROS = 250
const folder = process.env.BENCH_PROFILE_FOLDER ?? '.'
const session = new Session()
session.connect()
let number = 0
let on = false

function toggle() {
  on = !on
  if (on) {
    session.post('Profiler.enable')
    session.post('Profiler.setSamplingInterval', { interval: INTERVAL_MICROS })
    session.post('Profiler.start')
    return
  }
  session.post('Profiler.stop', (_error, { profile }) => {
    const thread = isMainThread ? 'main' : 'writer'
    writeFileSync(join(folder, `${number++}.${thread}.cpuprofile`), JSON.stringify(profile))
  })
}

const channel = new BroadcastChannel('bench-profile')
channel.unref()
if (isMainThread) {
  // The directory starts its threads without the flags of the process.
  threads.Worker = class extends threads.Worker {
    constructor(file, options) {
      super(file, { ...options, execArgv: ['--import', import.meta.url] })
    }
  }
  syncBuiltinESMExports()
  process.on('SIGUSR2', () => {
    channel.postMessage('toggle')
    toggle()
  })
} else channel.onmessage = toggle
