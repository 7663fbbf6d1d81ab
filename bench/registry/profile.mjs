// CPU profiles of the directory for each load.
import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../../scripts/tree.mjs'
import { startDirectory } from './processes.mjs'

/** The request sets and their connections. */
const LOADS = [
  ['read', 64],
  ['lookup-few', 64],
  ['lookup-some', 64],
  ['lookup-many', 64],
  ['register', 64],
  ['register', 1],
]
/** Functions listed for each profile. */
const SHOWN = 25
/** Warm-up: long enough to render every agent that will be read. */
const WARM_UP_SECONDS = 4
/** Starting and writing a profile takes a while. */
const SETTLE_MS = 2000

export async function profileDirectory({ data, config, load, folder, seconds }) {
  mkdirSync(folder, { recursive: true })
  const nodeFlags = ['--import', new URL('profile-hook.mjs', import.meta.url).href]
  const directory = await startDirectory({ data, config, nodeFlags, env: { BENCH_PROFILE_FOLDER: resolve(folder) } })
  const { port, pid } = directory
  for (const [number, [set, connections]] of LOADS.entries()) {
    const run = { set, connections, port, pid }
    await load.ask({ ...run, seconds: WARM_UP_SECONDS })
    directory.signal('SIGUSR2')
    await sleep(SETTLE_MS)
    const { perSecond, cpuMicros } = await load.ask({ ...run, seconds })
    directory.signal('SIGUSR2')
    await sleep(SETTLE_MS)
    process.stdout.write(`\n# ${set}, ${connections} connections: ${Math.round(perSecond)}/s while profiled, `)
    process.stdout.write(`${cpuMicros?.toFixed(1)} µs of CPU per request\n`)
    for (const thread of set === 'register' ? ['main', 'writer'] : ['main']) {
      const file = join(folder, `${set}-${connections}.${thread}.cpuprofile`)
      renameSync(join(folder, `${number}.${thread}.cpuprofile`), file)
      process.stdout.write(summarise(file, thread))
    }
  }
  await directory.stop()
  load.stop()
}

/** Summarises a profile: time by module, self time by function, and inclusive time of our functions. */
export function summarise(file, thread) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'))
  const byId = new Map(nodes.map((node) => [node.id, { ...node, time: 0 }]))
  samples.forEach((id, i) => {
    byId.get(id).time += timeDeltas[i]
  })
  const [modules, functions, inclusive] = [new Map(), new Map(), new Map()]
  let [idle, total] = [0, 0]

  const walk = ({ callFrame, children = [], time }, above) => {
    const { functionName, url, lineNumber } = callFrame
    // Exclude the start of the profiler itself.
    if (functionName === '(idle)' || functionName === 'dispatch') {
      idle += time
      return 0
    }
    const name = `${functionName || '(anonymous)'} ${url ? `${placeOf(url)}:${lineNumber + 1}` : ''}`
    total += time
    add(functions, name, time)
    add(modules, url ? moduleOf(url) : functionName, time)
    const inside = new Set(above).add(name)
    let all = time
    for (const child of children) all += walk(byId.get(child), inside)
    // Count a recursive function once.
    if (!above.has(name) && url.includes('/packages/')) add(inclusive, name, all)
    return all
  }
  walk(byId.get(nodes[0].id), new Set())

  const percent = (time) => `${((time / total) * 100).toFixed(1).padStart(5)} %`
  const list = (times, shown = SHOWN) =>
    [...times]
      .sort((a, b) => b[1] - a[1])
      .slice(0, shown)
      .map(([name, time]) => `${percent(time)}  ${name}\n`)
      .join('')
  const busy = ((total / (total + idle)) * 100).toFixed(0)
  return (
    `## ${thread} thread, busy ${busy} % of the time\n${list(modules, 14)}` +
    `-- self time\n${list(functions)}-- inclusive time, own code\n${list(inclusive)}`
  )
}

const add = (times, name, time) => times.set(name, (times.get(name) ?? 0) + time)

const placeOf = (url) => (url.startsWith('file:') ? relative(ROOT, fileURLToPath(url)) : url)

function moduleOf(url) {
  const place = placeOf(url)
  const installed = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(place)
  return installed?.[1] ?? (/^packages\/[^/]+\/dist\/[^/]+/.exec(place)?.[0] || place.split('/')[0])
}
