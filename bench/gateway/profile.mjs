// CPU profiles of the directory while agents are called.
import { mkdirSync, renameSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { startBare } from '../registry/processes.mjs'
import { summarise } from '../registry/profile.mjs'
import { startLoads } from './loads.mjs'
import { startOurs } from './servers.mjs'

/** Starting and writing a profile takes a while. */
const SETTLE_MS = 2000
const SECONDS = 5
const LOADS = {
  calls: (loads) => loads.call('ours', { connections: 32, seconds: SECONDS }),
  streams: (loads) => loads.stream('ours', { connections: 16, streams: 10, input: { events: 2000, every: 0 } }),
}

export async function profileGateway({ folder, into }, say) {
  mkdirSync(into, { recursive: true })
  const upstream = await startBare('../gateway/upstream.mjs')
  const hook = new URL('../registry/profile-hook.mjs', import.meta.url).href
  const ours = await startOurs(join(folder, 'ours'), upstream, {
    nodeFlags: ['--import', hook],
    env: { BENCH_PROFILE_FOLDER: resolve(into) },
  })
  const loads = await startLoads({ ours }, folder, say)
  for (const [number, [name, run]] of Object.entries(LOADS).entries()) {
    ours.signal('SIGUSR2')
    await sleep(SETTLE_MS)
    const { perSecond, cpuMicros } = await run(loads)
    ours.signal('SIGUSR2')
    await sleep(SETTLE_MS)
    process.stdout.write(
      `\n# ${name}: ${Math.round(perSecond)}/s while profiled, ${cpuMicros?.toFixed(1)} µs of CPU each\n`,
    )
    const file = join(into, `${name}.cpuprofile`)
    renameSync(join(into, `${number}.main.cpuprofile`), file)
    process.stdout.write(summarise(file, 'main'))
  }
  loads.stop()
  await ours.stop()
  await upstream.stop()
}
