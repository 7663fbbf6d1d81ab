// A temporary PostgreSQL cluster: node postgres-cluster.mjs <folder> <pid of its owner> <folder of the programs>
// It watches its owner and stops with it, so that it is gone after the tests however they end (Ctrl-C, kill).
// When it is ready, <folder>/url holds its URL; if it fails, <folder>/failed holds the reason.

import { execFileSync, spawn } from 'node:child_process'
import { chownSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const [folder, owner, programs] = process.argv.slice(2)
const data = join(folder, 'data')
const log = join(folder, 'log')

/** PostgreSQL refuses to run as root, so root runs it as the user that Debian creates for it, or as nobody. */
function unprivileged() {
  if (process.getuid?.() !== 0) return {}
  for (const user of ['postgres', 'nobody']) {
    try {
      const id = (flag) => Number(execFileSync('id', [flag, user], { stdio: ['ignore', 'pipe', 'ignore'] }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {}
  }
  throw new Error('as root, a user named postgres or nobody is needed to run PostgreSQL')
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

async function startServer(user) {
  const port = await freePort()
  const out = openSync(log, 'a')
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${data}`,
    'max_connections=200',
  ]
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
  const server = spawn(join(programs, 'postgres'), args, { ...user, cwd: data, stdio: ['ignore', out, out] })
  for (let i = 0; i < 300; i++) {
    if (server.exitCode !== null) throw new Error(`postgres has stopped: ${readFileSync(log, 'utf8').slice(-2000)}`)
    try {
      if (readFileSync(join(data, 'postmaster.pid'), 'utf8').includes('ready')) return { server, port }
    } catch {}
    await setTimeout(100)
  }
  throw new Error(`postgres was not ready within 30 s: ${readFileSync(log, 'utf8').slice(-2000)}`)
}

/** Writes a file atomically, so that readers never see part of it. */
function publish(name, text) {
  writeFileSync(join(folder, `${name}.new`), text)
  renameSync(join(folder, `${name}.new`), join(folder, name))
}

let server
const stop = () => {
  server?.kill('SIGQUIT')
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  process.exit()
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, stop)

try {
  const user = unprivileged()
  mkdirSync(data, { mode: 0o700 })
  if (user.uid !== undefined) chownSync(data, user.uid, user.gid)
  const args = ['-D', data, '-U', 'switchboard', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  execFileSync(join(programs, 'initdb'), args, { ...user, cwd: data, stdio: 'pipe' })
  const started = await startServer(user)
  server = started.server
  publish('url', `postgres://switchboard@127.0.0.1:${started.port}/postgres`)
} catch (error) {
  publish('failed', String(error.stderr ?? error.message))
}
while (isAlive(Number(owner))) await setTimeout(300)
stop()
