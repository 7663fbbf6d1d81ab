// A PostgreSQL cluster of its own for a benchmark, in a temporary folder, with the extension vector.
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const DEBIAN = '/usr/lib/postgresql'
/** As an operator would set them for a small server; the rest are defaults. */
const SETTINGS = ['shared_buffers=1GB', 'max_wal_size=4GB', 'random_page_cost=1.1', 'maintenance_work_mem=512MB']
const TICKS_PER_MS = 0.1

/** Starts a cluster; `cpuMs` is the CPU time of all its processes until now. */
export async function startCluster() {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  if (versions.length === 0) throw new Error('no PostgreSQL in /usr/lib/postgresql')
  const programs = join(DEBIAN, versions[0], 'bin')
  const user = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-bench-postgres-'))
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (user.uid !== undefined) for (const path of [folder, data]) chownSync(path, user.uid, user.gid)
  const initdb = ['-D', data, '-U', 'switchboard', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  execFileSync(join(programs, 'initdb'), initdb, { ...user, cwd: data, stdio: 'pipe' })
  const port = await freePort()
  const settings = [`port=${port}`, 'listen_addresses=127.0.0.1', `unix_socket_directories=${data}`, ...SETTINGS]
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
  const server = spawn(join(programs, 'postgres'), args, { ...user, cwd: data, stdio: 'ignore' })
  const kill = () => server.kill('SIGQUIT')
  process.once('exit', kill)
  const isReady = () => {
    const file = join(data, 'postmaster.pid')
    return existsSync(file) && /^ready/m.test(readFileSync(file, 'utf8').split('\n')[7] ?? '')
  }
  while (!isReady()) {
    if (server.exitCode !== null) throw new Error(`postgres has stopped with ${server.exitCode}`)
    await sleep(50)
  }
  return {
    url: `postgres://switchboard@127.0.0.1:${port}/postgres`,
    cpuMs: () => cpuTicksOf(server.pid) / TICKS_PER_MS,
    async stop() {
      const exited = new Promise((resolve) => server.once('exit', resolve))
      kill()
      await exited
      process.removeListener('exit', kill)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** CPU time of the server and its children, also those that have ended. */
function cpuTicksOf(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
  const ticks = (id, last) =>
    readFileSync(`/proc/${id}/stat`, 'utf8')
      .split(') ')
      .at(-1)
      .split(' ')
      .slice(11, last)
      .reduce((sum, each) => sum + Number(each), 0)
  return ticks(pid, 15) + children.reduce((sum, id) => sum + ticks(id, 13), 0)
}

/** PostgreSQL refuses to run as root. */
function unprivileged() {
  if (process.getuid?.() !== 0) return {}
  const id = (flag) => Number(execFileSync('id', [flag, 'postgres']))
  return { uid: id('-u'), gid: id('-g') }
}

async function freePort() {
  const server = createServer()
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address()
  await new Promise((resolve) => server.close(resolve))
  return port
}
