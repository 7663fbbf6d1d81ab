import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import pg from 'pg'

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

/** Reason for skipped tests; part of their titles. */
export const NO_POSTGRES = 'skipped: no PostgreSQL (initdb, postgres) on PATH or in /usr/lib/postgresql'

/**
 * A new, empty database in a cluster that the whole test run shares and that stops after it; no setup file is needed.
 * Undefined, with a warning, if PostgreSQL is not installed; SWITCHBOARD_TEST_POSTGRES=required makes that an error.
 *
 * @example
 * const database = await testDatabase()
 * describe.skipIf(!database)(database ? 'on PostgreSQL' : NO_POSTGRES, () => { … })
 * afterAll(() => database?.drop())
 */
export async function testDatabase(): Promise<TestDatabase | undefined> {
  const programs = findPrograms()
  if (!programs) {
    if (process.env.SWITCHBOARD_TEST_POSTGRES === 'required') throw new Error(NO_POSTGRES)
    console.warn(NO_POSTGRES)
    return undefined
  }
  const cluster = await startCluster(programs)
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await query(cluster, `CREATE DATABASE ${name}`)
  const url = new URL(cluster)
  url.pathname = `/${name}`
  return {
    url: url.href,
    async drop() {
      await query(cluster, `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

/** Reason for skipped tests; part of their titles. */
export const NO_VECTOR = 'skipped: no PostgreSQL with the extension vector (pgvector 0.8 or later)'

/** Like `testDatabase`, for a server that has the extension `vector`. */
export async function testVectorDatabase(): Promise<TestDatabase | undefined> {
  const database = await testDatabase()
  if (!database) return undefined
  const versions = await query(
    database.url,
    `SELECT version FROM pg_available_extension_versions WHERE name = 'vector'`,
  )
  if (versions.length > 0) return database
  await database.drop()
  if (process.env.SWITCHBOARD_TEST_POSTGRES === 'required') throw new Error(NO_VECTOR)
  console.warn(NO_VECTOR)
  return undefined
}

/** The folder of PostgreSQL's programs; on Debian they are not on the PATH. */
export function findPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

/**
 * The URL of the cluster. The first test file that needs it starts it; the others find its folder and wait. It is named
 * after the process that runs the tests (vitest's, whether its workers are processes or threads) and stops with it.
 */
async function startCluster(programs: string): Promise<string> {
  const owner = process.env.VITEST && isMainThread ? process.ppid : process.pid
  const folder = join(tmpdir(), `switchboard-postgres-${owner}-${startOf(owner)}`)
  if (isNew(folder)) {
    const program = fileURLToPath(new URL('./postgres-cluster.mjs', import.meta.url))
    // Detached, so that Ctrl-C does not stop it while tests still use it.
    spawn(process.execPath, [program, folder, String(owner), programs], { detached: true, stdio: 'ignore' }).unref()
  }
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    if (existsSync(join(folder, 'url'))) return readFileSync(join(folder, 'url'), 'utf8')
    if (existsSync(join(folder, 'failed'))) {
      throw new Error(`PostgreSQL did not start: ${readFileSync(join(folder, 'failed'), 'utf8')}`)
    }
    await setTimeout(50)
  }
  throw new Error(`PostgreSQL did not start within 60 s; if nothing runs in ${folder}, delete it`)
}

/** Distinguishes a process from an earlier one with the same pid, whose folder a crash may have left (Linux only). */
function startOf(pid: number): string {
  const file = `/proc/${pid}/stat`
  const fields = existsSync(file) ? readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') : undefined
  return fields?.[19] ?? '0'
}

function isNew(folder: string): boolean {
  try {
    // Not 0700: if this is root, the server runs as another user and has its data in this folder.
    mkdirSync(folder, { mode: 0o755 })
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
