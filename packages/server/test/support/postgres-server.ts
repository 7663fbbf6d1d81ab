import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { findPrograms } from '../postgres.js'
import { temporaryFolder } from './process.js'

/** A PostgreSQL server of its own, which a test may stop, pause and replace. */
export interface PostgresServer {
  readonly port: number
  readonly url: string
  /** A folder that its user may enter; removed with the server. */
  readonly folder: string
  /** The folder of its programs, such as pg_dump. */
  readonly programs: string
  start(): Promise<void>
  /** `fast` ends connections and shuts down cleanly; `immediate` is like a crash. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  /** Stops all its processes with SIGSTOP: connections stay open, and nothing responds. */
  pause(): void
  resume(): void
  /** Runs each statement by itself; returns the rows of the last one. */
  sql(...statements: string[]): Promise<Record<string, unknown>[]>
  /** Starts a standby that receives every commit before it is acknowledged. */
  addStandby(): Promise<PostgresServer>
  /** Makes a standby the primary. */
  promote(): Promise<void>
  remove(): Promise<void>
}

/** Undefined if PostgreSQL is not installed. */
export async function startPostgresServer(): Promise<PostgresServer | undefined> {
  const found = findPrograms()
  if (found === undefined) return undefined
  const programs = dirname(realpathSync(join(found, 'initdb')))
  const server = await createPostgresServer(programs, (data, user) => {
    const args = ['-D', data, '-U', 'switchboard', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    execFileSync(join(programs, 'initdb'), args, { ...user, cwd: data, stdio: 'pipe' })
  })
  await server.start()
  return server
}

type User = { uid?: number; gid?: number }

async function createPostgresServer(
  programs: string,
  fill: (data: string, user: User) => void,
): Promise<PostgresServer> {
  const user = unprivileged()
  const folder = temporaryFolder()
  chmodSync(folder.path, 0o755)
  const data = join(folder.path, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (user.uid !== undefined && user.gid !== undefined) chownSync(data, user.uid, user.gid)
  fill(data, user)
  const port = await freePort()
  const url = `postgres://switchboard@127.0.0.1:${port}/postgres`
  let running: ReturnType<typeof spawn> | undefined
  let isPaused = false

  const isReady = (): boolean => {
    try {
      return /^(ready|standby)/m.test(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[7] ?? '')
    } catch {
      return false
    }
  }
  const pids = (): number[] => {
    const pid = running?.pid
    if (pid === undefined) return []
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return [pid, ...children.map(Number)]
  }
  const signal = (name: NodeJS.Signals): void => {
    for (const pid of pids()) {
      try {
        process.kill(pid, name)
      } catch {
        // It has just ended.
      }
    }
  }

  const server: PostgresServer = {
    port,
    url,
    folder: folder.path,
    programs,
    async start() {
      const settings = [
        `port=${port}`,
        'listen_addresses=127.0.0.1',
        `unix_socket_directories=${data}`,
        'max_connections=100',
        'wal_level=replica',
        'max_wal_senders=4',
        'hot_standby=on',
        // A standby that was cut off returns at once.
        'wal_retrieve_retry_interval=100ms',
      ]
      const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
      running = spawn(join(programs, 'postgres'), args, { ...user, cwd: data, stdio: 'ignore' })
      const kill = (): boolean | undefined => running?.kill('SIGQUIT')
      process.once('exit', kill)
      running.once('exit', () => process.removeListener('exit', kill))
      while (!isReady()) {
        if (running.exitCode !== null) throw new Error(`postgres ended with ${running.exitCode}`)
        await sleep(20)
      }
    },
    async stop(mode) {
      if (isPaused) server.resume()
      if (!running || running.exitCode !== null || running.signalCode !== null) return
      const exited = once(running, 'exit')
      running.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT')
      await exited
    },
    pause() {
      isPaused = true
      signal('SIGSTOP')
    },
    resume() {
      isPaused = false
      signal('SIGCONT')
    },
    async sql(...statements) {
      const client = new pg.Client({ connectionString: url })
      client.on('error', () => {})
      await client.connect()
      try {
        let rows: Record<string, unknown>[] = []
        for (const statement of statements) rows = (await client.query(statement)).rows
        return rows
      } finally {
        await client.end()
      }
    },
    async addStandby() {
      const standby = await createPostgresServer(programs, (to, as) => {
        const args = ['-h', '127.0.0.1', '-p', String(port), '-U', 'switchboard', '-D', to]
        execFileSync(join(programs, 'pg_basebackup'), [...args, '-R', '-X', 'stream', '-c', 'fast'], {
          ...as,
          cwd: to,
          stdio: 'pipe',
        })
      })
      await standby.start()
      await server.sql(`ALTER SYSTEM SET synchronous_standby_names = '*'`, 'SELECT pg_reload_conf()')
      while ((await server.sql(`SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'`)).length === 0)
        await sleep(50)
      return standby
    },
    async promote() {
      await server.sql('SELECT pg_promote(true, 30)')
      // It was copied with the settings of the primary, and has no standby itself.
      await server.sql('ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()')
    },
    async remove() {
      await server.stop('immediate')
      folder.remove()
    },
  }
  return server
}

/** PostgreSQL refuses to run as root, so root runs it as the user that Debian creates for it, or as nobody. */
function unprivileged(): User {
  if (process.getuid?.() !== 0) return {}
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      // No such user.
    }
  }
  throw new Error('as root, a user named postgres or nobody is needed to run PostgreSQL')
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
