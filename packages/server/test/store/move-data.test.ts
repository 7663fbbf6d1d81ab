import { statSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { gunzipSync, gzipSync } from 'node:zlib'
import Database from 'libsql'
import pg from 'pg'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { backUpData, type DataPlace, migrateData, restoreData, verifyBackup } from '../../src/move-data.js'
import { memoryOf } from '../../src/policy/quota.js'
import type { TableReader } from '../../src/store/backup/tables.js'
import { openPostgresStore } from '../../src/store/postgres/open-postgres-store.js'
import { readPostgresTables } from '../../src/store/postgres/read-tables.js'
import { openSqliteStore } from '../../src/store/sqlite/open-sqlite-store.js'
import { readSqliteTables } from '../../src/store/sqlite/read-tables.js'
import { NO_POSTGRES, testDatabase } from '../postgres.js'
import { temporaryFolder } from '../support/process.js'
import { newestEntries, put, remove, stored } from './fixtures.js'

let root: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  root = temporaryFolder()
})
afterEach(() => root.remove())
const folder = (name: string): string => join(root.path, name)

/** Rows in every table, whatever its columns are: texts, numbers, fractions, bytes and nulls. */
async function fill(path: string, rows = 3): Promise<void> {
  const store = await openSqliteStore(path)
  const gone = await stored(store.write(put('gone')))
  await store.write(remove(gone))
  await store.close()
  const db = new Database(join(path, 'switchboard.db'))
  const reader = readSqliteTables(path)
  const { tables } = reader
  await reader.close()
  db.exec('BEGIN')
  for (const { name } of tables) {
    const columns = db
      .prepare<[unknown[]]>('SELECT name, type, "notnull" AS needed FROM pragma_table_info(?)')
      .all([name])
    const insert = db.prepare<[unknown[]]>(`INSERT INTO ${name} VALUES (${columns.map(() => '?').join(', ')})`)
    for (let row = 1; row <= rows; row++) insert.run(columns.map((column, i) => sample(column, 100 * row + i)))
  }
  db.exec('COMMIT')
  db.close()
}

function sample(column: unknown, n: number): unknown {
  const { name, type, needed } = Object(column)
  if (needed === 0 && name !== 'number' && name !== 'entry' && n % 2 === 0) return null
  if (type === 'INTEGER') return n
  if (type === 'REAL') return n + 0.1
  if (type === 'BLOB') return Buffer.from([0, 255, n % 256])
  if (name === 'document') return JSON.stringify({ text: `tëxt \u0000 ${'y'.repeat(n % 400)}` })
  return `tëxt 😀 "${n}"\n\\u0000 ${'x'.repeat(n % 400)}`
}

/** Everything in a store, in an order that does not depend on the database. */
async function contentOf(opening: TableReader | Promise<TableReader>): Promise<object> {
  const reader = await opening
  const rows = new Map<string, string[]>()
  for await (const page of reader.pages()) {
    const texts = page.rows.map((row) => JSON.stringify(row.map((v) => (v instanceof Uint8Array ? [...v] : v))))
    rows.set(page.table.name, [...(rows.get(page.table.name) ?? []), ...texts])
  }
  await reader.close()
  const tables = reader.tables.map(({ name, columns, counter }) => ({ name, columns: columns.toSorted(), counter }))
  return { tables, rows: Object.fromEntries([...rows].map(([name, all]) => [name, all.sort()])) }
}

async function backUp(place: DataPlace): Promise<Buffer> {
  const target = new PassThrough()
  const [content] = await Promise.all([buffer(target), backUpData(place, target)])
  return content
}

const restore = (content: Buffer, place: DataPlace, replace = false) =>
  restoreData(Readable.from([content], { objectMode: false }), place, { replace })

describe('a backup', () => {
  it('restores everything elsewhere, and continues with new revisions', async () => {
    await fill(folder('a'))
    const content = await backUp({ folder: folder('a') })
    const seen: number[][] = []
    await restoreData(Readable.from([content]), { folder: folder('b') }, { onProgress: (...done) => seen.push(done) })
    expect(await contentOf(readSqliteTables(folder('b')))).toEqual(await contentOf(readSqliteTables(folder('a'))))
    expect(seen.at(-1)?.[0]).toBe(seen.at(-1)?.[1])
    const [before, after] = [readSqliteTables(folder('a')), readSqliteTables(folder('b'))]
    expect(after.revision).toBeGreaterThan(before.revision + 1_000_000)
    await Promise.all([before.close(), after.close()])
    expect(statSync(join(folder('b'), 'switchboard.db')).mode & 0o077).toBe(0)
  })

  it('is made while a server writes, and contains one state of the store', async () => {
    const store = await openSqliteStore(folder('a'))
    let writing = true
    const write = async (): Promise<void> => {
      for (let n = 0; writing; n++)
        await Promise.all(Array.from({ length: 20 }, (_, i) => store.write(put(`a${n}-${i}`))))
    }
    const writer = write()
    await store.write(put('first'))
    const contents = [await backUp({ folder: folder('a') }), await backUp({ folder: folder('a') })]
    writing = false
    await writer
    await store.close()
    for (const [i, content] of contents.entries()) {
      await restore(content, { folder: folder(`b${i}`) })
      const copy = await openSqliteStore(folder(`b${i}`))
      const agents: string[] = []
      for await (const batch of (await copy.load()).agents) agents.push(...batch.map(({ id }) => id))
      expect(agents).toContain('first')
      // Agents, their presence and their audit entries are written together.
      expect((await newestEntries(copy, { action: 'register', limit: 100_000 })).length).toBe(agents.length)
      await copy.close()
    }
  })

  it('is restored completely or not at all, whatever is wrong with it', async () => {
    await fill(folder('a'))
    const content = await backUp({ folder: folder('a') })
    const text = gunzipSync(content).toString()
    const broken: [RegExp, Buffer][] = [
      [/cannot be read: unexpected end of file/, content.subarray(0, content.length - 20)],
      [/end is missing/, gzipSync(text.split('\n').slice(0, -2).join('\n').concat('\n'))],
      [/checksum/, gzipSync(text.replace('"tëxt 😀', '"tíxt 😀'))],
      [/cut off/, gzipSync(text.slice(0, -1))],
      [/not JSON/, gzipSync(text.replace('{"table":"grants"}', '{"table":"gra'))],
      [/not a backup/, gzipSync('{"id":"x"}\n')],
      [/cannot be read: incorrect header check/, Buffer.from('hello')],
      [/supports only versions up to/, gzipSync(text.replace(/"version":\d+/, '"version":9999'))],
      [/"agents.evil; DROP", which is not known here: upgrade/, gzipSync(text.replace('"owner"', '"evil; DROP"'))],
      [/continues after its end/, gzipSync(`${text}[]\n`)],
    ]
    for (const [reason, bad] of broken) {
      await expect(restore(bad, { folder: folder('b') })).rejects.toThrow(reason)
      await expect(verifyBackup(Readable.from([bad]))).rejects.toThrow()
    }
    expect(await restore(content, { folder: folder('b') })).toMatchObject({ agents: 3 })
  })

  it('does not overwrite a store unless it is told to, and then replaces all of it', async () => {
    await fill(folder('a'))
    const other = await openSqliteStore(folder('b'))
    for (let n = 0; n < 50; n++) await other.write(put(`mine-${n}`))
    await other.close()
    const content = await backUp({ folder: folder('a') })
    await expect(restore(content, { folder: folder('b') })).rejects.toThrow(/not empty \(it has agents.*--replace/)
    await expect(restore(content.subarray(0, 500), { folder: folder('b') }, true)).rejects.toThrow()
    const kept = await openSqliteStore(folder('b'))
    expect(await kept.get('mine-0')).toMatchObject({ id: 'mine-0' })
    await expect(restore(content, { folder: folder('b') }, true)).rejects.toThrow(/another server uses the store/)
    await kept.close()
    await restore(content, { folder: folder('b') }, true)
    const { rows } = Object(await contentOf(readSqliteTables(folder('b'))))
    expect(rows).toEqual(Object(await contentOf(readSqliteTables(folder('a')))).rows)
  })

  it('can leave out embeddings, which are computed again', async () => {
    await fill(folder('a'))
    const target = new PassThrough()
    const [content] = await Promise.all([
      buffer(target),
      backUpData({ folder: folder('a') }, target, { embeddings: false }),
    ])
    await restore(content, { folder: folder('b') })
    const reader = readSqliteTables(folder('b'))
    expect(reader.tables.find(({ name }) => name === 'vectors')?.rows).toBe(0)
    expect(reader.tables.find(({ name }) => name === 'agents')?.rows).toBe(3)
    await reader.close()
  })

  it('of an earlier version can be restored', async () => {
    await fill(folder('a'))
    const audited = Object(await contentOf(readSqliteTables(folder('a')))).rows.audit.length
    // As if the last columns of the audit log, and all limits, had been added since.
    const old = new Database(join(folder('a'), 'switchboard.db'))
    old.exec(
      'DROP INDEX audit_action; DROP TABLE limits; ALTER TABLE audit DROP COLUMN state_after; PRAGMA user_version = 5',
    )
    old.close()
    const earlier = await backUp({ folder: folder('a') })
    expect(gunzipSync(earlier).toString()).toContain('"version":5')
    await restore(earlier, { folder: folder('b') })
    const { rows } = Object(await contentOf(readSqliteTables(folder('b'))))
    expect([rows.limits, rows.agents.length, rows.audit.length]).toEqual([undefined, 3, audited])
  })

  it('of a folder without a store is an error, and creates nothing', async () => {
    await expect(backUp({ folder: folder('nothing') })).rejects.toThrow(/there is no store in/)
    expect(() => statSync(folder('nothing'))).toThrow()
  })
})

const database = await testDatabase()

describe.skipIf(!database)(database ? 'on PostgreSQL' : `moving data to PostgreSQL, ${NO_POSTGRES}`, () => {
  afterAll(() => database?.drop())
  let schemas = 0
  let url: string
  beforeEach(async () => {
    const client = new pg.Client({ connectionString: database?.url })
    await client.connect()
    await client.query(`CREATE SCHEMA m${++schemas}`)
    await client.end()
    url = `${database?.url}?options=-csearch_path%3Dm${schemas}`
  })

  it('both stores have the same tables and columns, with types that can be copied', async () => {
    await (await openSqliteStore(folder('a'))).close()
    await (await openPostgresStore(url)).close()
    const [sqlite, postgres] = [readSqliteTables(folder('a')), await readPostgresTables(url)]
    const shapeOf = ({ tables }: TableReader) => tables.map(({ name, columns }) => [name, columns.toSorted()])
    expect(shapeOf(postgres)).toEqual(shapeOf(sqlite))
    const types = new Set(postgres.tables.flatMap((table) => ('types' in table ? Object(table.types) : [])))
    expect(['bigint', 'bytea', 'double precision', 'integer', 'text']).toEqual(expect.arrayContaining([...types]))
    await Promise.all([sqlite.close(), postgres.close()])
  })

  it('a migration to PostgreSQL and back compares equal', async () => {
    await fill(folder('a'), 500)
    const original = await contentOf(readSqliteTables(folder('a')))
    await migrateData({ folder: folder('a') }, { database: url })
    expect(await contentOf(readPostgresTables(url))).toEqual(original)
    await migrateData({ database: url }, { folder: folder('b') })
    expect(await contentOf(readSqliteTables(folder('b')))).toEqual(original)
    const [first, last] = [readSqliteTables(folder('a')), readSqliteTables(folder('b'))]
    expect(last.revision).toBe(first.revision)
    await Promise.all([first.close(), last.close()])
  })

  it('a new agent after a migration gets a new number and revision', async () => {
    await fill(folder('a'))
    await migrateData({ folder: folder('a') }, { database: url })
    const store = await openPostgresStore(url)
    const agent = await stored(store.write(put('new')))
    const highest = Math.max(...[1, 2, 3].map((row) => 100 * row))
    expect(agent.number).toBeGreaterThan(highest)
    expect(agent.revision).toBeGreaterThan(2)
    await store.close()
  })

  it('documents count towards the quotas of their owners after a migration', async () => {
    const store = await openSqliteStore(folder('a'))
    await store.write(put('a', { owner: 'alice', document: { id: 'a', text: 'x'.repeat(1000) } }))
    await store.close()
    await migrateData({ folder: folder('a') }, { database: url })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query('SELECT memory::int FROM agents')
    expect(rows).toEqual([{ memory: memoryOf({ id: 'a', text: 'x'.repeat(1000) }) }])
    await client.end()
  })

  it('a migration refuses a source in use, unless a snapshot is enough, and a target that is not empty', async () => {
    const store = await openPostgresStore(url)
    await store.write(put('a'))
    await expect(migrateData({ database: url }, { folder: folder('b') })).rejects.toThrow(/stop all servers/)
    await migrateData({ database: url }, { folder: folder('b') }, { live: true })
    const copy = await openSqliteStore(folder('b'))
    expect(await copy.get('a')).toMatchObject({ id: 'a' })
    await expect(migrateData({ folder: folder('b') }, { database: url })).rejects.toThrow(/another server uses/)
    await copy.close()
    await expect(migrateData({ folder: folder('b') }, { database: url })).rejects.toThrow(/not empty/)
    await store.close()
  })

  it('a restore into a database in use makes every replica load again, and leaves other programs’ tables alone', async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query('CREATE TABLE theirs (a int); INSERT INTO theirs VALUES (1)')
    const store = await openPostgresStore(url)
    await store.write(put('kept'))
    const content = await backUp({ database: url })
    const later = await stored(store.write(put('later')))
    const { cursor, agents } = await store.load()
    for await (const _ of agents);
    await expect(restore(content, { database: url })).rejects.toThrow(/not empty/)
    await restore(content, { database: url }, true)
    await expect(store.changes(cursor)).rejects.toMatchObject({ code: 'cursor_lost' })
    const fresh = await store.load()
    for await (const batch of fresh.agents) expect(batch.map(({ id }) => id)).toEqual(['kept'])
    const next = await stored(store.write(put('next')))
    expect(next.number).toBeGreaterThan(later.number)
    expect(next.revision).toBeGreaterThan(later.revision + 1_000_000)
    expect((await store.changes(fresh.cursor)).changes).toMatchObject([{ id: 'next' }])
    expect((await client.query('SELECT * FROM theirs')).rows).toEqual([{ a: 1 }])
    await client.end()
    await store.close()
  })
})
