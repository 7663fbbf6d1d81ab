import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'libsql'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MIGRATIONS } from '../../src/store/sqlite/migrations.js'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.js'
import { readSecret } from '../../src/store/sqlite/read-secret.js'
import { readSqliteTables } from '../../src/store/sqlite/read-tables.js'
import { writeSqliteTables } from '../../src/store/sqlite/write-tables.js'
import { StoreError } from '../../src/store/store-error.js'
import { AT, entry, loadAll, newestEntries, put, stored } from './fixtures.js'
import { describeStore } from './suite.js'

const newFolder = (): string => join(mkdtempSync(join(tmpdir(), 'switchboard-store-')), 'data')
const dropFolder = (folder: string): void => rmSync(join(folder, '..'), { recursive: true, force: true })

describeStore('sqlite', async () => {
  const folder = newFolder()
  return {
    open: () => openSqliteStore(folder),
    async refuseOwner(owner) {
      sql(
        folder,
        `CREATE TRIGGER refuse AFTER INSERT ON presence
        WHEN (SELECT owner FROM agents WHERE number = NEW.number) = '${owner}'
        BEGIN SELECT RAISE(ABORT, 'refused'); END`,
      )
    },
    drop: async () => dropFolder(folder),
  }
})

function sql(folder: string, ...statements: string[]): void {
  const db = new Database(join(folder, 'switchboard.db'))
  for (const statement of statements) db.exec(statement)
  db.close()
}

/** Starts another process that prints each durable write; `printed` waits until it has printed so many lines. */
async function startStorm(
  folder: string,
): Promise<{ child: ChildProcess; output: () => string; printed: (lines: number) => Promise<void> }> {
  const program = fileURLToPath(new URL('./storm.mjs', import.meta.url))
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const printed = async (lines: number): Promise<void> => {
    while (output.split('\n').length <= lines) {
      const { exitCode, signalCode } = child
      if (exitCode !== null || signalCode !== null) throw new Error(`it has ended: ${exitCode ?? signalCode}`)
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  await printed(1)
  return { child, output: () => output, printed }
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'close')
}

describe('sqlite folder', () => {
  let folder: string

  beforeEach(() => {
    folder = newFolder()
  })
  afterEach(() => dropFolder(folder))

  it('is created with access for its owner only', async () => {
    const store = await openSqliteStore(join(folder, 'deep'))
    expect(statSync(join(folder, 'deep')).mode & 0o777).toBe(0o700)
    await store.close()
  })

  it.each([0o000, 0o022, 0o077])(
    'has only files for its owner, even if it existed before, with umask %i',
    async (mask) => {
      const before = process.umask(mask)
      try {
        mkdirSync(folder, { mode: 0o755 })
        const store = await openSqliteStore(folder)
        await store.write(put('a'))
        readSecret(folder)
        const files = readdirSync(folder)
        expect(files).toEqual(
          expect.arrayContaining([
            'lock.db',
            'secret.key',
            'switchboard.db',
            'switchboard.db-shm',
            'switchboard.db-wal',
          ]),
        )
        for (const file of files) expect(statSync(join(folder, file)).mode & 0o777, file).toBe(0o600)
        await store.close()
      } finally {
        process.umask(before)
      }
    },
  )

  it('takes the permissions of other users from the files of a store, and reports them', async () => {
    await (await openSqliteStore(folder)).close()
    readSecret(folder)
    writeFileSync(join(folder, 'notes.txt'), 'not ours')
    const own = ['lock.db', 'secret.key', 'switchboard.db']
    for (const file of [...own, 'notes.txt']) chmodSync(join(folder, file), 0o644)
    const exposed: string[] = []
    const store = await openSqliteStore(folder, { onExposed: ({ path }) => exposed.push(basename(path)) })
    expect(exposed.toSorted()).toEqual(own)
    for (const file of own) expect(statSync(join(folder, file)).mode & 0o777, file).toBe(0o600)
    expect(statSync(join(folder, 'notes.txt')).mode & 0o777).toBe(0o644)
    await store.close()
  })

  it('is locked by one process until that process is gone, even if it was killed', async () => {
    const { child } = await startStorm(folder)
    await expect(openSqliteStore(folder)).rejects.toMatchObject({ name: 'StoreError', code: 'locked' })
    await kill(child)
    await (await openSqliteStore(folder)).close()
  })

  it('is opened once in a process, and a rejected attempt does not release the lock', async () => {
    const store = await openSqliteStore(folder)
    for (let i = 0; i < 2; i++) await expect(openSqliteStore(folder)).rejects.toMatchObject({ code: 'locked' })
    await store.write(put('a'))
    await store.close()
    await (await openSqliteStore(folder)).close()
  })

  it('can be written to while a server runs, which sees the change', async () => {
    const server = await openSqliteStore(folder)
    const { cursor } = await server.load()
    const command = await openSqliteStore(folder, { lock: false })
    const key = { id: 'admin', hash: 'h', subject: 'admin', scopes: ['admin'], createdAt: AT }
    const agents = Array.from({ length: 50 }, (_, i) => server.write(put(`a${i}`)))
    expect(await command.putKey(key, entry())).toBe(true)
    await Promise.all(agents)
    await command.close()
    expect(await server.keys()).toEqual([key])
    const { changes } = await server.changes(cursor)
    expect(changes.filter(({ kind }) => kind === 'keys')).toHaveLength(1)
    expect(changes).toHaveLength(51)
    await server.close()
  })

  it('contains every acknowledged write, complete, after kill -9', async () => {
    const { child, output, printed } = await startStorm(folder)
    await printed(1000)
    await kill(child)
    const acknowledged = output().split('\n').slice(1, -1)

    const store = await openSqliteStore(folder)
    const { agents } = await loadAll(store)
    const numbers = new Map(agents.map((agent) => [agent.id, agent.number]))
    expect(acknowledged.length).toBeGreaterThan(900)
    for (const line of acknowledged) {
      const [id = '', number] = line.split(' ')
      expect(numbers.get(id)).toBe(Number(number))
    }
    for (const { id, document, lease, createdAt } of agents) {
      expect(document).toEqual({ id, padding: 'x'.repeat(2000) })
      expect(lease).toEqual({ seconds: createdAt, expiresAt: createdAt })
    }
    const { changes } = await store.changes('0')
    const audited = await newestEntries(store, { limit: 100_000 })
    const ids = agents.map((agent) => agent.id).toSorted()
    expect(changes.map((change) => ('id' in change ? change.id : '')).toSorted()).toEqual(ids)
    expect(audited.map((audit) => audit.agent).toSorted()).toEqual(ids)
    await store.close()
  })

  it('is migrated from version 0 to the current version', async () => {
    mkdirSync(folder)
    sql(folder, 'PRAGMA user_version = 0')
    const store = await openSqliteStore(folder)
    await store.write(put('a'))
    await store.close()
    const db = new Database(join(folder, 'switchboard.db'))
    expect(db.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: MIGRATIONS.length })
    db.close()
  })

  it('keeps its audit log when it is migrated', async () => {
    mkdirSync(folder)
    const row = `(${AT}, 'alice', 'mark', 'ok', 'a')`
    sql(
      folder,
      `${MIGRATIONS.slice(0, 3).join('')}
       INSERT INTO audit (at, actor, action, outcome, agent) VALUES ${row}, ${row};
       PRAGMA user_version = 3`,
    )
    const store = await openSqliteStore(folder)
    await store.appendAudit([entry()])
    const log = await store.auditAfter(undefined)
    expect(log.map(({ cursor }) => cursor)).toEqual(['1', '2', '3'])
    expect(log[0]?.entry).toEqual(entry({ action: 'mark', agent: 'a' }))
    await store.close()
  })

  it('is unchanged if a migration fails', async () => {
    mkdirSync(folder)
    sql(folder, 'CREATE TABLE grants (x)')
    await expect(openSqliteStore(folder)).rejects.toMatchObject({ code: 'unavailable' })
    const db = new Database(join(folder, 'switchboard.db'))
    expect(db.prepare(`SELECT name FROM sqlite_master WHERE type = 'table'`).all()).toEqual([{ name: 'grants' }])
    db.close()
  })

  it('can be used after a newer Switchboard has migrated it, but neither copied nor restored', async () => {
    await (await openSqliteStore(folder)).close()
    sql(folder, `CREATE TABLE added (x); PRAGMA user_version = ${MIGRATIONS.length + 1}`)
    const store = await openSqliteStore(folder)
    expect((await store.write(put('a'))).outcome).toBe('done')
    await store.close()
    const db = new Database(join(folder, 'switchboard.db'))
    expect(db.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: MIGRATIONS.length + 1 })
    db.close()
    for (const open of [readSqliteTables, writeSqliteTables]) expect(() => open(folder)).toThrow(/upgrade it/)
  })

  it('is rejected if a newer Switchboard has migrated it in a way that this one must not use', async () => {
    await (await openSqliteStore(folder)).close()
    sql(folder, `PRAGMA user_version = ${(MIGRATIONS.length + 1) * 1001}`)
    await expect(openSqliteStore(folder)).rejects.toMatchObject({
      code: 'newer_version',
      message: expect.stringContaining(`version ${MIGRATIONS.length + 1}`),
    })
  })

  it('is reported as unavailable, in one line, if it cannot be used', async () => {
    mkdirSync(folder)
    writeFileSync(join(folder, 'file'), '')
    await expectUnavailable(join(folder, 'file'))
    await expectUnavailable(join(folder, 'file', 'below'))
    writeFileSync(
      join(folder, 'switchboard.db'),
      'this is no database, but long enough to be taken for one '.repeat(99),
    )
    await expectUnavailable(folder)
    rmSync(join(folder, 'switchboard.db'))
    const store = await openSqliteStore(folder)
    await stored(store.write(put('a')))
    await store.close()
  })
})

async function expectUnavailable(folder: string): Promise<void> {
  const error = await openSqliteStore(folder).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(StoreError)
  expect(error).toMatchObject({ code: 'unavailable', message: expect.stringMatching(/^[^\n]+$/) })
}
