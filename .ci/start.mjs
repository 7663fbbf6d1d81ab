// Starts the built server as an operator would, checks its health and stops it, with the Node that runs this program.
// The argument names another main file, such as that of an installed package.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MAIN = process.argv[2] ?? fileURLToPath(new URL('../packages/cli/dist/main.js', import.meta.url))
const READY_MS = 30_000
const DRAIN_MS = 10_000

const data = mkdtempSync(join(tmpdir(), 'switchboard-start-'))
const server = spawn(process.execPath, [MAIN, 'serve', '--port', '0', '--data', data], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(server, 'exit')
let stdout = ''
server.stdout.setEncoding('utf8').on('data', (text) => {
  stdout += text
})

const within = (ms, what, promise) =>
  Promise.race([
    promise,
    new Promise((_, reject) => setTimeout(reject, ms, new Error(`${what}: timed out after ${ms / 1000} s`)).unref()),
  ])

async function ready() {
  while (!stdout.includes('\n')) {
    await Promise.race([
      once(server.stdout, 'data'),
      ended.then(([code]) => Promise.reject(new Error(`the server exited with ${code}`))),
    ])
  }
  const url = /^switchboard ready on (\S+)\n$/.exec(stdout)?.[1]
  if (!url) throw new Error(`stdout has something other than the ready line: ${stdout}`)
  return url
}

try {
  const url = await within(READY_MS, 'ready', ready())
  for (const path of ['/health/live', '/health/ready']) {
    const { status } = await fetch(new URL(path, url))
    if (status !== 200) throw new Error(`${path} responded with ${status}`)
  }
  server.kill('SIGTERM')
  const [code] = await within(DRAIN_MS, 'exit after SIGTERM', ended)
  if (code !== 0) throw new Error(`after SIGTERM the server exited with ${code}`)
  console.log(`started, was healthy and stopped on Node ${process.version}`)
} catch (error) {
  console.error(`start: ${error.message}`)
  process.exitCode = 1
} finally {
  server.kill('SIGKILL')
  rmSync(data, { recursive: true, force: true })
}
