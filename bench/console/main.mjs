// Measures the console's search page in Chromium, with all agents of the load set.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { ROOT } from '../../scripts/tree.mjs'
import { readAgents } from '../registry/data.mjs'
import { importAgents } from '../registry/import-agents.mjs'
import { settle, startDirectory } from '../registry/processes.mjs'
import { median, observePage } from './observe-page.mjs'

const HELP = `bench/console: measures the search page in Chromium

  --data FILE     agents, one JSON object per line (../shared/retrieval/load/agents.jsonl; synthetic if missing)
  --agents N      number of agents (all; 48,039 if synthetic)
  --loads N       how often the page is opened, each time with an empty cache (5)
  --chromium FILE (/usr/bin/chromium)
`
/** Typed one after the other; some find a few agents and some a quarter of all. */
const QUERIES = [
  'translate a contract into Chinese',
  'data',
  'weather forecast for the weekend',
  'design',
  'summarise a long report',
  'testing',
  'convert currencies',
  'documents',
  'find flights to Lisbon',
  'read invoices',
]
const FACETS = ['tags', 'capabilities', 'protocols', 'supported_languages', 'publisher', 'status', 'verification']
const FACET_ROUNDS = 9
const HIGH = 10_000_000

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: join(ROOT, '../shared/retrieval/load/agents.jsonl') },
    agents: { type: 'string' },
    loads: { type: 'string', default: '5' },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
    help: { type: 'boolean' },
  },
})
if (values.help) {
  console.log(HELP)
  process.exit(0)
}

const folder = mkdtempSync(join(tmpdir(), 'bench-console-'))
const config = join(folder, 'config.json')
writeFileSync(
  config,
  JSON.stringify({
    rateLimits: { search: HIGH, register: HIGH, lookup: HIGH, invoke: HIGH },
    quotas: { agents: HIGH },
    search: { embedder: 'static' },
  }),
)
const { documents, source } = readAgents(values.data, values.agents && Number(values.agents))
const directory = await startDirectory({ data: join(folder, 'data'), config })
const browser = await chromium.launch({ executablePath: values.chromium, args: ['--no-sandbox'] })
try {
  const url = `http://127.0.0.1:${directory.port}`
  await importAgents(directory.port, documents)
  await settle(directory)
  console.log(`${documents.length} agents (${source})\n`)

  const loads = []
  for (let i = 0; i < Number(values.loads); i++) loads.push(await measureLoad(url))
  print('first load', {
    'first contentful paint': loads.map(({ paint }) => paint),
    'first results shown (useful paint)': loads.map(({ useful }) => useful),
  })
  console.log(`  transferred: ${(loads[0].bytes / 1000).toFixed(1)} kB (Brotli, without results)\n`)

  const tab = await openPage(url)
  const searches = []
  for (const query of [...QUERIES, ...QUERIES]) searches.push(await measureSearch(tab, query))
  print('search', {
    request: searches.map(({ request }) => request),
    'from response to shown results': searches.map(({ shown }) => shown),
  })
  const scroll = await measureScroll(tab)
  print('scrolling through all agents', { frame: scroll.frames, 'jump to the end': [scroll.jump] })
  await tab.close()

  const plain = await measureRequests(url, {})
  const counted = await measureRequests(url, { facets: FACETS })
  for (const query of Object.keys(plain))
    print(`counts, ${query || 'no query'} (${plain[query].count} found)`, {
      'without counts': plain[query].times,
      'with counts': counted[query].times,
    })
} finally {
  await browser.close()
  await directory.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function openPage(url) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const tab = await context.newPage()
  await tab.addInitScript(observePage)
  await tab.goto(url)
  await tab.waitForFunction(() => globalThis.seen.first !== undefined)
  return tab
}

async function measureLoad(url) {
  const tab = await openPage(url)
  const measured = await tab.evaluate(() => ({
    useful: globalThis.seen.first,
    paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    bytes: performance
      .getEntriesByType('resource')
      .filter(({ name }) => name.includes('/console/assets/'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  }))
  await tab.context().close()
  return measured
}

/** Types a query and waits until its results are on the screen. */
async function measureSearch(tab, query) {
  await tab.evaluate(() => {
    performance.clearResourceTimings()
    globalThis.seen.changed = undefined
  })
  await tab.getByRole('searchbox').fill(query)
  return tab
    .waitForFunction(() => {
      const [entry] = performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/agents/search'))
      const { changed } = globalThis.seen
      if (!entry || changed === undefined || changed < entry.responseEnd) return false
      return { request: entry.responseEnd - entry.startTime, shown: changed - entry.responseEnd }
    })
    .then((handle) => handle.jsonValue())
}

async function measureScroll(tab) {
  await tab.getByRole('searchbox').fill('')
  await tab.waitForFunction(() => document.documentElement.scrollHeight > 1_000_000)
  return tab.evaluate(async () => {
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve))
    const frames = []
    let before = await nextFrame()
    for (let i = 0; i < 200; i++) {
      window.scrollBy(0, 300)
      const now = await nextFrame()
      frames.push(now - before)
      before = now
    }
    const started = performance.now()
    window.scrollTo(0, document.documentElement.scrollHeight)
    const isAtEnd = () => {
      const last = [...document.querySelectorAll('[data-index]')].at(-1)
      return (
        last?.getAttribute('aria-posinset') === last?.getAttribute('aria-setsize') && last?.querySelector('article')
      )
    }
    while (!isAtEnd() && performance.now() - started < 30_000) {
      window.scrollTo(0, document.documentElement.scrollHeight)
      await nextFrame()
    }
    return { frames, jump: performance.now() - started }
  })
}

/** Times of the same request over HTTP, without the browser. */
async function measureRequests(url, more) {
  const measured = {}
  for (const query of ['', 'data', 'convert currencies']) {
    const body = JSON.stringify({ ...(query && { query }), top: 10, skip: 0, ...more })
    const times = []
    let count = 0
    for (let i = 0; i < FACET_ROUNDS; i++) {
      const started = performance.now()
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${url}/agents/search`, { method: 'POST', headers, body })
      count = (await response.json()).count
      times.push(performance.now() - started)
    }
    measured[query] = { count, times }
  }
  return measured
}

function print(title, rows) {
  console.log(title)
  for (const [name, times] of Object.entries(rows)) {
    const sorted = times.toSorted((a, b) => a - b)
    const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1]
    console.log(`  ${name.padEnd(36)} p50 ${median(times).toFixed(1)} ms, p95 ${p95.toFixed(1)} ms`)
  }
  console.log('')
}
