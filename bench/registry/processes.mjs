// Starts, stops and observes the processes to measure.
import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../../scripts/tree.mjs'

/** A throw-away key: the directories are deleted after the run. */
export const ADMIN_KEY = 'bench-registry-administrator'

const here = (name) => fileURLToPath(new URL(name, import.meta.url))
const running = new Set()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/**
 * @typedef {object} Running
 * @property {number} port
 * @property {number} pid
 * @property {number} startMs from spawn to the ready line
 * @property {() => Promise<void>} stop
 * @property {(signal: NodeJS.Signals) => void} signal
 */

/**
 * Starts a directory like `npm start`, without npm.
 * @returns {Promise<Running>}
 */
export async function startDirectory({ data, config, nodeFlags = [], env = {} }) {
  const port = await freePort()
  const main = join(ROOT, 'packages/cli/dist/main.js')
  const args = [...nodeFlags, main, 'serve', '--port', String(port), '--data', data, '--config', config]
  return startServer(args, port, { SWITCHBOARD_ADMIN_KEY: ADMIN_KEY, ...env })
}

/**
 * Starts one of the bare alternatives in this folder.
 * @returns {Promise<Running>}
 */
export async function startBare(name, file, { nodeFlags = [], env = {} } = {}) {
  const port = await freePort()
  return startServer([...nodeFlags, here(name), String(port), file], port, env)
}

async function startServer(args, port, env = {}) {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SWITCHBOARD_'))
  const started = performance.now()
  const child = spawn(process.execPath, args, {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors = (errors + chunk).slice(-4000)
  })
  const ended = once(child, 'exit').then(([code]) => {
    running.delete(child)
    return code
  })
  const ready = new Promise((resolve) => {
    createInterface(child.stdout).on('line', (line) => / ready on /.test(line) && resolve(true))
  })
  if ((await Promise.race([ready, ended])) !== true) throw new Error(`${args.join(' ')} did not start: ${errors}`)
  return {
    port,
    pid: child.pid,
    startMs: performance.now() - started,
    signal: (signal) => void child.kill(signal),
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Starts a script in this folder as a worker process that handles one message at a time. */
export function startWorker(name, ...args) {
  const child = fork(here(name), args)
  running.add(child)
  const ended = once(child, 'exit').then(([code]) => [{ error: `exited with code ${code}` }])
  return {
    async ask(message) {
      child.send(message)
      const [answer] = await Promise.race([once(child, 'message'), ended])
      if (answer.error) throw new Error(`${name}: ${answer.error}`)
      return answer
    },
    stop() {
      running.delete(child)
      child.kill()
    },
  }
}

/** Finds a free port. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Resident memory of a process, in MiB. */
export const residentMiB = (pid) =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024

/** Waits until a process is idle, for example after it has indexed what it loaded. */
export async function settle({ pid }) {
  const until = performance.now() + SETTLE_TIMEOUT_MS
  for (let [before, idle] = [cpuSeconds(pid), 0]; idle < 3 && performance.now() < until; ) {
    await sleep(SETTLE_POLL_MS)
    const now = cpuSeconds(pid)
    if (now === undefined) return
    idle = now - before < IDLE_SHARE * (SETTLE_POLL_MS / 1000) ? idle + 1 : 0
    before = now
  }
}
const SETTLE_TIMEOUT_MS = 20_000
const SETTLE_POLL_MS = 200
/** Share of a core below which a process counts as idle. */
const IDLE_SHARE = 0.15

/** CPU time of a process, in seconds; undefined if the system does not provide it. */
export function cpuSeconds(pid) {
  try {
    // The command name in parentheses may contain spaces, so count fields after it: utime and stime, in ticks of 10 ms.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return undefined
  }
}
