import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PostgresServer, startPostgresServer } from '../support/postgres-server.js'
import { type ServerProcess, startServer, temporaryFolder } from '../support/process.js'
import { startTcpProxy } from '../support/tcp-proxy.js'

export const REPLICAS = [0, 1, 2]

/** Three replicas on a PostgreSQL with a synchronous standby, behind an address that follows the primary. */
export interface Cluster {
  readonly databaseUrl: string
  /** The current primary. */
  readonly primary: PostgresServer
  urlOf(replica: number): string
  /** Kills a replica with SIGKILL. */
  kill(replica: number): Promise<void>
  restart(replica: number): Promise<void>
  /** Crashes the primary and promotes the standby. */
  failOver(): Promise<void>
  /** What all replicas have logged, those that were killed too. */
  log(): string
  close(): Promise<void>
}

export async function startCluster(): Promise<Cluster | undefined> {
  const first = await startPostgresServer()
  if (!first) return undefined
  const standby = await first.addStandby()
  const proxy = await startTcpProxy(first.port)
  const databaseUrl = `postgres://switchboard@127.0.0.1:${proxy.port}/postgres`
  const folder = temporaryFolder()
  const config = join(folder.path, 'config.json')
  const limits = { search: 1e9, register: 1e9, lookup: 1e9, invoke: 1e9 }
  writeFileSync(config, JSON.stringify({ rateLimits: limits, search: { embedder: 'none' }, logLevel: 'warn' }))
  const start = (): Promise<ServerProcess> => startServer(['--database', databaseUrl, '--config', config])
  const replicas = await Promise.all(REPLICAS.map(start))
  let primary = first
  let log = ''

  const replicaOf = (replica: number): ServerProcess => {
    const server = replicas[replica]
    if (!server) throw new Error(`there is no replica ${replica}`)
    return server
  }

  return {
    databaseUrl,
    get primary() {
      return primary
    },
    urlOf: (replica) => replicaOf(replica).url,
    async kill(replica) {
      log += (await replicaOf(replica).stop('SIGKILL')).stderr
    },
    async restart(replica) {
      replicas[replica] = await start()
    },
    async failOver() {
      await primary.stop('immediate')
      await standby.promote()
      proxy.retarget(standby.port)
      primary = standby
    },
    log: () => log + replicas.map((replica) => replica.stderr()).join(''),
    async close() {
      await Promise.all(replicas.map((replica) => replica.stop('SIGKILL')))
      proxy.close()
      await Promise.all([first.remove(), standby.remove()])
      folder.remove()
    },
  }
}
