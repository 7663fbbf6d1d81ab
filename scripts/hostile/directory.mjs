import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../tree.mjs'

/** A throw-away key: the directory is deleted after the run. */
export const ADMIN_KEY = 'administrator-of-the-hostile-test'

/** Limits on the rate would reject most of the requests before they cost anything. All other limits are the defaults. */
const CONFIG = {
  rateLimits: { search: 1e9, register: 1e9, lookup: 1e9, invoke: 1e9 },
  search: { embedder: 'none' },
  gateway: { timeoutMs: 1000 },
}
const MAX_HEAP_MIB = 1024
const START_MS = 60_000

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const children = new Set()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/** Starts the agents that the directory calls. */
export async function startAgents() {
  const child = fork(here('agents.mjs'))
  children.add(child)
  const [{ port }] = await once(child, 'message')
  return { url: `http://127.0.0.1:${port}`, pid: child.pid }
}

/**
 * Starts a directory with the monitor in it.
 * @param {(block: { blocked: number, late: number, recent: string[] }) => void} onBlocked
 */
export async function startDirectory(onBlocked) {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-hostile-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const config = join(folder, 'config.json')
  writeFileSync(config, JSON.stringify(CONFIG))
  const flags = ['--expose-gc', `--max-old-space-size=${MAX_HEAP_MIB}`, '--import', here('monitor.mjs')]
  const main = join(ROOT, 'packages/cli/dist/main.js')
  const args = [
    main,
    'serve',
    '--port',
    '0',
    '--data',
    join(folder, 'data'),
    '--config',
    config,
    '--log-level',
    'error',
  ]
  const child = spawn(process.execPath, [...flags, ...args], {
    env: { PATH: process.env.PATH, SWITCHBOARD_ADMIN_KEY: ADMIN_KEY },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  children.add(child)
  let log = ''
  let ended
  child.stderr.on('data', (chunk) => {
    log = (log + chunk).slice(-20_000)
  })
  child.on('exit', (code, signal) => {
    ended = `the directory ended with ${signal ?? `code ${code}`}`
  })
  child.on('message', (message) => {
    if (message.blocked !== undefined) onBlocked(message)
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  const url = await until(START_MS, () => {
    if (ended) throw new Error(`${ended}: ${log}`)
    return /ready on (\S+)/.exec(output)?.[1]
  })
  return {
    url,
    pid: child.pid,
    ended: () => ended,
    log: () => log,
    /** Bytes in use after a garbage collection. */
    async memory() {
      const reported = new Promise((resolve) => {
        const onMessage = (message) => {
          if (!message.memory) return
          child.off('message', onMessage)
          resolve(message.memory)
        }
        child.on('message', onMessage)
      })
      child.send('memory')
      return reported
    },
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await Promise.race([exited, sleep(15_000, undefined, { ref: false })])
      child.kill('SIGKILL')
    },
  }
}

async function until(ms, get) {
  const end = Date.now() + ms
  for (;;) {
    const value = get()
    if (value !== undefined) return value
    if (Date.now() > end) throw new Error(`the directory did not start within ${ms} ms`)
    await sleep(50)
  }
}

/** Registers documents through the bulk import; throws if any is rejected. */
export async function importLines(url, lines) {
  const post = request(`${url}/admin/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/x-ndjson' },
  })
  // Results arrive while documents are still being sent; not reading them would block the upload.
  const answered = once(post, 'response').then(([response]) => readText(response))
  for (let i = 0; i < lines.length; i += 200) {
    if (!post.write(`${lines.slice(i, i + 200).join('\n')}\n`)) await once(post, 'drain')
  }
  post.end()
  const results = (await answered).trimEnd().split('\n')
  const rejected = results.filter((line) => !line.includes('"status":"created"'))
  if (rejected.length > 0) throw new Error(`${rejected.length} agents were rejected, for example ${rejected[0]}`)
}

/** Sends a request of the administrator and parses the response. */
export async function administer(url, method, path, body) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}
