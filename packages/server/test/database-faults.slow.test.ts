import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chownSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NO_POSTGRES } from './postgres.js'
import { aidipAgent } from './support/documents.js'
import { type PostgresServer, startPostgresServer } from './support/postgres-server.js'
import { ADMIN_KEY, type ServerProcess, startServer, temporaryFolder } from './support/process.js'
import { mountSmallDisk } from './support/small-disk.js'

const postgres = await startPostgresServer()

/** Milliseconds in which a write is refused, on a busy machine. */
const BOUND_MS = 20_000
/** Milliseconds in which a write is refused once the fault is known. */
const QUICK_MS = 3000
const SOON = { timeout: 30_000, interval: 50 }

/** Text that cannot be compressed. */
const randomText = (): string => randomBytes(20_000).toString('base64')

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly json: ReturnType<typeof JSON.parse>
  readonly ms: number
}

describe.skipIf(!postgres)(postgres ? 'while the database' : `database faults, ${NO_POSTGRES}`, () => {
  const database: PostgresServer = postgres ?? expect.fail(NO_POSTGRES)
  const folder = temporaryFolder()
  let server: ServerProcess
  let key: string
  /** Where the log of the current test begins. */
  let logStart = 0

  beforeAll(async () => {
    const config = join(folder.path, 'config.json')
    const limits = { search: 1e9, register: 1e9, lookup: 1e9, invoke: 1e9 }
    writeFileSync(config, JSON.stringify({ rateLimits: limits, search: { embedder: 'none' } }))
    server = await startServer(['--database', database.url, '--config', config])
    const made = await send('POST', '/admin/keys', { subject: 'team-a', scopes: ['publish', 'discover'] }, ADMIN_KEY)
    key = made.json.key
    await send('POST', '/agents', aidipAgent({ id: 'kept', description: 'Translates documents about zebras.' }))
  })
  beforeEach(() => {
    logStart = server.stderr().length
  })
  afterAll(async () => {
    await server?.stop()
    await database.remove()
    folder.remove()
  })

  const send = async (method: string, path: string, body?: JsonObject, secret = key): Promise<Answer> => {
    const started = performance.now()
    const response = await fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${secret}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const json = text === '' ? undefined : JSON.parse(text)
    return { status: response.status, headers: response.headers, json, ms: performance.now() - started }
  }
  const register = (id: string): Promise<Answer> => send('POST', '/agents', aidipAgent({ id }))
  const readiness = async (): Promise<string> => (await send('GET', '/health/ready')).json.status
  const degradedSeconds = async (): Promise<number> => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text()
    return Number(/^switchboard_degraded_seconds (\S+)$/m.exec(metrics)?.[1])
  }
  const log = (): { msg: string; status?: number }[] =>
    server
      .stderr()
      .slice(logStart)
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
  /** What the log says, except about requests that are wrong and about the many similar agents of this test. */
  const messages = (): string[] =>
    log().flatMap(({ msg, status = 500 }) => (status < 500 || msg.includes('abuse') ? [] : msg))

  const AWAY = 'the database is not available: serving from memory, and refusing writes'
  const UNWRITABLE = 'the database cannot be written: refusing writes'
  const BACK = 'the database is available again'

  /** Reads go on from memory, and say how old it is. */
  const expectStaleReads = async (): Promise<void> => {
    // Background work may notice the fault before the reader of changes does, which knows how stale the memory is.
    const warning = async () => (await send('GET', '/agents/kept')).headers.get('x-switchboard-warnings')
    await expect.poll(warning, SOON).not.toBeNull()
    const ready = await send('GET', '/health/ready')
    expect(ready).toMatchObject({ status: 200, json: { status: 'degraded' } })
    const { since } = ready.json
    expect(Date.now() - Date.parse(since)).toBeLessThan(60_000)
    const read = await send('GET', '/agents/kept')
    expect(read.status).toBe(200)
    expect(read.headers.get('x-switchboard-warnings')).toContain(`the state of ${since}`)
    const list = await send('POST', '/agents/search', { query: 'zebras' })
    expect(list.json).toMatchObject([{ id: 'kept' }])
    expect(list.headers.get('x-switchboard-warnings')).toContain(`the state of ${since}`)
    const found = await send('POST', '/discover', { query: 'zebras' })
    expect(found.json.warnings).toContainEqual(expect.stringContaining(`the state of ${since}`))
    expect((await send('GET', '/ad/r/987654')).status).toBe(404)
    expect(await degradedSeconds()).toBeGreaterThan(0)
    // The key is known from memory; others are still rejected.
    expect((await send('GET', '/agents/kept', undefined, 'sb_unknown')).status).toBe(401)
  }

  const expectRefused = (answer: Answer, boundMs: number): void => {
    expect(answer).toMatchObject({ status: 503, json: { code: 'unavailable' } })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.ms).toBeLessThan(boundMs)
  }

  /** Everything works again, without a restart, and the log has one line for the fault and one for its end. */
  const expectRecovery = async (fault: string): Promise<void> => {
    await expect.poll(readiness, SOON).toBe('ready')
    expect(await degradedSeconds()).toBe(0)
    expect([200, 201]).toContain((await register('after')).status)
    expect((await send('GET', '/agents/kept')).headers.get('x-switchboard-warnings')).toBeNull()
    expect(messages()).toEqual([fault, BACK])
    expect(server.stderr().slice(logStart)).not.toContain('"stack"')
  }

  it('is stopped, reads go on from memory, writes get 503, and all is well when it is back', async () => {
    await database.stop('fast')
    await expect.poll(readiness, SOON).toBe('degraded')
    expectRefused(await register('refused'), BOUND_MS)
    await expect.poll(messages, SOON).toEqual([AWAY])
    await expectStaleReads()
    const many = await Promise.all(Array.from({ length: 50 }, (_, i) => register(`refused-${i}`)))
    for (const answer of many) expectRefused(answer, QUICK_MS)
    await database.start()
    await expectRecovery(AWAY)
    expect((await send('GET', '/agents/refused')).status).toBe(404)
  })

  it('crashes, nothing that was acknowledged is lost', async () => {
    const acknowledged: string[] = []
    let writing = true
    const write = async (writer: number): Promise<void> => {
      for (let i = 0; writing; i++) {
        const id = `w${writer}-${i}`
        if ((await register(id)).status === 201) acknowledged.push(id)
      }
    }
    const writers = [0, 1, 2].map(write)
    await expect.poll(() => acknowledged.length, SOON).toBeGreaterThan(20)
    await database.stop('immediate')
    await expect.poll(readiness, SOON).toBe('degraded')
    await database.start()
    await expect.poll(readiness, SOON).toBe('ready')
    writing = false
    await Promise.all(writers)
    const stored = new Set((await database.sql('SELECT id FROM agents')).map(({ id }) => id))
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
    for (const id of acknowledged) expect((await send('GET', `/agents/${id}`)).status).toBe(200)
    await expectRecovery(AWAY)
  })

  it('does not respond, a write is refused in time, and its repetition is applied once', async () => {
    database.pause()
    const answers = await Promise.all([register('unsure'), register('unsure-too')])
    for (const answer of answers) expectRefused(answer, BOUND_MS)
    await expect.poll(readiness, SOON).toBe('degraded')
    await expectStaleReads()
    expectRefused(await register('unsure'), QUICK_MS)
    database.resume()
    await expect.poll(readiness, SOON).toBe('ready')
    for (const id of ['unsure', 'unsure-too']) expect([200, 201]).toContain((await register(id)).status)
    const { json } = await send('GET', '/admin/audit?agent=unsure&action=register', undefined, ADMIN_KEY)
    expect(json.entries).toHaveLength(1)
    await expectRecovery(AWAY)
  })

  it('is read-only, writes get 503 and reads are not stale', async () => {
    const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'switchboard'`
    await database.sql('ALTER DATABASE postgres SET default_transaction_read_only = on', terminate)
    expectRefused(await register('refused'), BOUND_MS)
    await expect.poll(readiness, SOON).toBe('degraded')
    expectRefused(await register('refused'), QUICK_MS)
    await expect
      .poll(async () => (await send('GET', '/agents/kept')).headers.get('x-switchboard-warnings'), SOON)
      .toBeNull()
    await database.sql('SET default_transaction_read_only = off', 'ALTER DATABASE postgres RESET ALL', terminate)
    await expectRecovery(UNWRITABLE)
  })

  it('is full, writes get 503 until there is room again', async () => {
    const disk = mountSmallDisk(join(database.folder, 'small'), '8m')
    if (!disk) return
    try {
      chownSync(disk.path, statSync(join(database.folder, 'data')).uid, -1)
      await database.sql(
        `CREATE TABLESPACE small LOCATION '${disk.path}'`,
        'ALTER TABLE agents SET TABLESPACE small',
        'ALTER TABLE switchboard SET TABLESPACE small',
      )
      disk.fill()
      const fill = async (i: number): Promise<string> => {
        await send('POST', '/agents', aidipAgent({ id: `full-${i}`, description: randomText() }))
        return readiness()
      }
      for (let i = 0; (await fill(i)) === 'ready' && i < 200; i++);
      await expect.poll(readiness, SOON).toBe('degraded')
      expectRefused(await register('refused'), QUICK_MS)
      expect((await send('GET', '/agents/kept')).headers.get('x-switchboard-warnings')).toBeNull()
      disk.free()
      await expectRecovery(UNWRITABLE)
    } finally {
      for (const table of ['agents', 'switchboard'])
        await database.sql(`ALTER TABLE ${table} SET TABLESPACE pg_default`)
      await database.sql('DROP TABLESPACE small')
      disk.unmount()
    }
  })

  it('keeps a lock for long, only what needs it is refused', async () => {
    const locked = database.sql('BEGIN', 'LOCK TABLE agents IN ACCESS EXCLUSIVE MODE', 'SELECT pg_sleep(14)', 'COMMIT')
    await expect
      .poll(() => database.sql(`SELECT 1 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted`), SOON)
      .not.toHaveLength(0)
    expectRefused(await register('refused'), BOUND_MS)
    expect(await readiness()).toBe('ready')
    expect((await send('GET', '/agents/kept')).status).toBe(200)
    await locked
    expect((await register('refused')).status).toBe(201)
    expect(messages()).toEqual(['an operation of the database failed, although the database is available'])
  })

  it('is replaced by an older backup, the directory serves what the backup has', async () => {
    const url = new URL(database.url)
    const options = ['-h', url.hostname, '-p', url.port, '-U', url.username]
    const before = (await send('GET', '/agents/kept')).json
    const { revision } = (await send('GET', '/health/ready')).json
    const backup = execFileSync(join(database.programs, 'pg_dump'), [...options, '--clean', 'postgres'])
    await send('PUT', '/agents/kept', aidipAgent({ id: 'kept', description: 'Translates documents about okapis.' }))
    await register('newer')
    await send('DELETE', '/agents/after')
    execFileSync(join(database.programs, 'psql'), [...options, '-q', '-v', 'ON_ERROR_STOP=1', 'postgres'], {
      input: backup,
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    const statusOf = async (id: string) => (await send('GET', `/agents/${id}`)).status
    await expect.poll(() => statusOf('newer'), SOON).toBe(404)
    await expect.poll(() => statusOf('after'), SOON).toBe(200)
    expect((await send('GET', '/agents/kept')).json).toEqual(before)
    expect((await send('POST', '/agents/search', { query: 'okapis' })).json).toEqual([])
    // The database may have assigned revisions that no agent has.
    const [assigned] = await database.sql('SELECT last_value FROM changes_revision_seq')
    const restored = async (): Promise<boolean> => {
      const now: number = (await send('GET', '/health/ready')).json.revision
      return now >= revision && now <= Number(assigned?.last_value)
    }
    await expect.poll(restored, SOON).toBe(true)
    const updated = aidipAgent({ id: 'kept', description: 'Translates documents about giraffes.' })
    expect((await send('PUT', '/agents/kept', updated)).status).toBe(200)
  })
})
