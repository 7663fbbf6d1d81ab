// Where the time of the directory goes, load by load.
import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../../scripts/tree.mjs'
import { startDirectory } from './processes.mjs'

const LOADS = { read: 64, 'lookup-few': 64, 'lookup-some': 64, 'lookup-many': 64, register: 64 }
/** Functions shown of each profile. */
const SHOWN = 30
/** For the thread to write its profile. */
const WRITE_MS = 1500

export async function profileDirectory({ data, config, load, folder, seconds }) {
  mkdirSync(folder, { recursive: true })
  const nodeFlags = ['--import', new URL('profile-hook.mjs', import.meta.url).href]
  const directory = await startDirectory({ data, config, nodeFlags, env: { BENCH_PROFILE_FOLDER: resolve(folder) } })
  const { port, pid } = directory
  for (const [number, [set, connections]] of Object.entries(LOADS).entries()) {
    const run = { set, connections, port, pid }
    await load.ask({ ...run, seconds: 2 })
    directory.signal('SIGUSR2')
    const { perSecond, cpuMicros } = await load.ask({ ...run, seconds })
    directory.signal('SIGUSR2')
    await sleep(WRITE_MS)
    process.stdout.write(`\n# ${set}, ${connections} at once: ${Math.round(perSecond)}/s while profiled, `)
    process.stdout.write(`${cpuMicros?.toFixed(1)} µs of CPU a request\n`)
    for (const thread of set === 'register' ? ['main', 'writer'] : ['main']) {
      const file = join(folder, `${set}.${thread}.cpuprofile`)
      renameSync(join(folder, `${number}.${thread}.cpuprofile`), file)
      process.stdout.write(summarise(file, thread))
    }
  }
  await directory.stop()
  load.stop()
}

/** The functions with the most time of their own, and the shares of modules. */
export function summarise(file, thread) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'))
  const byNode = new Map(nodes.map((node) => [node.id, node]))
  const [functions, modules] = [new Map(), new Map()]
  let [idle, total] = [0, 0]
  samples.forEach((id, i) => {
    const { functionName, url, lineNumber } = byNode.get(id).callFrame
    const time = timeDeltas[i]
    if (functionName === '(idle)') {
      idle += time
      return
    }
    total += time
    const place = url ? `${placeOf(url)}:${lineNumber + 1}` : ''
    add(functions, `${functionName || '(anonymous)'} ${place}`, time)
    add(modules, url ? moduleOf(url) : functionName, time)
  })
  const percent = (time) => `${((time / total) * 100).toFixed(1).padStart(5)} %`
  const list = (times, shown) =>
    [...times]
      .sort((a, b) => b[1] - a[1])
      .slice(0, shown)
      .map(([name, time]) => `${percent(time)}  ${name}\n`)
      .join('')
  const busy = ((total / (total + idle)) * 100).toFixed(0)
  return `## ${thread} thread, busy ${busy} % of the time\n${list(modules, 14)}--\n${list(functions, SHOWN)}`
}

const add = (times, name, time) => times.set(name, (times.get(name) ?? 0) + time)

const placeOf = (url) => (url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url)

function moduleOf(url) {
  const place = placeOf(url)
  const installed = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(place)
  return installed?.[1] ?? (/^packages\/[^/]+\/dist\/[^/]+/.exec(place)?.[0] || place.split('/')[0])
}
