import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NO_POSTGRES, testDatabase } from '../../server/test/postgres.js'
import { ADMIN_KEY, type ServerProcess, startServer, switchboard } from '../../server/test/support/process.js'
import { aidip, type Bench, startProcesses } from './support/cli.js'

const AGENTS = 300
const SECRET = 'the-secret-of-all-the-replicas'
const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' }

let bench: Bench
beforeAll(async () => {
  bench = await startProcesses()
  const agents = Array.from({ length: AGENTS }, (_, n) => ({
    document: aidip(`agent-${n}`, {
      // Words that no other agent has: near-duplicates would be reported, and ranked in any order.
      description: Array.from({ length: 12 }, (_, word) => `w${(n * 12 + word).toString(36)}`).join(' '),
      tags: [`tag-${n % 7}`],
      visibility: n % 5 === 0 ? 'private' : 'public',
    }),
    owner: `team-${n % 3}`,
  }))
  await bench.cli(
    'import',
    bench.file('agents.ndjson', agents.map((each) => JSON.stringify(each)).join('\n')),
    '--bulk',
  )
  const requests: [string, string, unknown][] = [
    ['POST', '/admin/keys', { subject: 'team-1', scopes: ['publish'] }],
    ['POST', '/admin/grants', { subject: 'app', agent: 'agent-5', scopes: ['discover'] }],
    ['PATCH', '/admin/agents/agent-1', { verification: 'verified', quality_score: 4 }],
    ['PUT', '/admin/agents/agent-2/credential', { type: 'bearer', token: 'a-token-for-the-agent' }],
    ['POST', '/ad/r?agent=leased&lt=3600', { base: 'https://leased.example', protocols: ['https'] }],
    ['POST', '/agents/agent-3/feedback', { rating: 4 }],
    ['DELETE', '/agents/agent-299', undefined],
  ]
  for (const [method, path, body] of requests) {
    const response = await fetch(bench.url + path, { method, headers, body: JSON.stringify(body) })
    expect([path, response.status]).toEqual([path, expect.toSatisfy((status) => status >= 200 && status < 300)])
  }
})
afterAll(() => bench.close())

const at = (name: string): string => join(bench.folder, name)
const serve = (...args: string[]): Promise<ServerProcess> =>
  startServer([...args, '--config', at('config.json')], { env: { SWITCHBOARD_SECRET: SECRET } })

/** What a directory answers, with its own address taken out. */
async function answersOf(url: string): Promise<unknown[]> {
  // After a start, words are indexed in the background.
  const health = async () => (await fetch(`${url}/health/ready`)).text()
  await expect.poll(health, { timeout: 60_000 }).toContain('"pending":0')
  const gets = ['/agents?limit=500', '/agents/agent-0', '/agents/agent-2', '/ad/l', '/admin/keys', '/admin/grants']
  const paths = [
    ...gets,
    '/.well-known/agents.json',
    '/.well-known/jwks.json',
    '/agents/agent-299',
    '/ad/l?agent=leased',
  ]
  const searches = [17, 120].map((n) => ({
    query: `w${(n * 12 + 3).toString(36)}`,
    filters: { tags: [`tag-${n % 7}`] },
    limit: 1,
  }))
  const answers = await Promise.all([
    ...paths.map((path) => fetch(url + path, { headers })),
    ...searches.map((body) => fetch(`${url}/agents/search`, { method: 'POST', headers, body: JSON.stringify(body) })),
  ])
  return Promise.all(
    answers.map(async (answer) => [
      answer.url.replace(url, ''),
      answer.status,
      (await answer.text()).replaceAll(url, '').replaceAll(/"(lt|correlation_id)":("[^"]*"|\d+)/g, '"$1":0'),
    ]),
  )
}

describe('a backup', () => {
  it('of a running directory, restored elsewhere, gives the same answers', async () => {
    const file = at('nightly.backup')
    const done = await bench.cli('backup', file, '--data', at('data'))
    expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/^backed up to \S+: 300 agents, \d+ rows/) })
    expect(done.stderr).toMatch(/secrets encrypted with \S+secret\.key: keep a copy of that file/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await bench.cli('restore', file, '--verify')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/complete/),
    })
    const busy = await bench.cli('restore', file, '--data', at('data'), '--replace')
    expect(busy).toMatchObject({ code: 2, stderr: expect.stringMatching(/another server uses the store/) })
    const restored = await bench.cli('restore', file, '--data', at('elsewhere'))
    expect(restored).toMatchObject({ code: 0, stderr: expect.stringMatching(/copy the secret\.key of the original/) })
    const copy = await startServer(['--data', at('elsewhere'), '--config', at('config.json')], {
      env: { SWITCHBOARD_SECRET: readFileSync(join(at('data'), 'secret.key'), 'utf8').trim() },
    })
    try {
      expect(await answersOf(copy.url)).toEqual(await answersOf(bench.url))
    } finally {
      await copy.stop()
    }
  })
})

const database = await testDatabase()

describe.skipIf(!database)(database ? 'on PostgreSQL' : `migration, ${NO_POSTGRES}`, () => {
  afterAll(() => database?.drop())

  it('a directory migrated to PostgreSQL and back gives the same answers', async () => {
    const url = database?.url ?? ''
    const original = await serve('--data', at('moved'))
    const env = { SWITCHBOARD_URL: original.url, SWITCHBOARD_TOKEN: ADMIN_KEY }
    await switchboard(['import', at('agents.ndjson'), '--bulk'], { env }).ended
    const before = await answersOf(original.url)
    const early = await bench.cli('migrate', '--from', at('moved'), '--to', url)
    expect(early).toMatchObject({ code: 2, stderr: expect.stringMatching(/another server uses the store/) })
    await original.stop()

    const there = await bench.cli('migrate', '--from', at('moved'), '--to', url)
    expect(there).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^migrated: 300 agents, \d+ rows in total\n$/),
    })
    expect(there.stderr).toMatch(/set SWITCHBOARD_SECRET to it/)
    const replica = await serve('--database', url)
    try {
      expect(await answersOf(replica.url)).toEqual(before)
    } finally {
      await replica.stop()
    }

    const back = await bench.cli('migrate', '--from', url, '--to', at('back'))
    expect(back).toMatchObject({ code: 0, stdout: expect.stringMatching(/^migrated: 300 agents/) })
    const returned = await serve('--data', at('back'))
    try {
      expect(await answersOf(returned.url)).toEqual(before)
    } finally {
      await returned.stop()
    }
  })

  it('a backup restored into the database of a running replica is served without a restart', async () => {
    const fresh = await testDatabase()
    const url = fresh?.url ?? ''
    const replica = await serve('--database', url)
    const send = (method: string, path: string, body: unknown) =>
      fetch(replica.url + path, { method, headers, body: JSON.stringify(body) })
    const read = async (path: string) => {
      const response = await fetch(replica.url + path, { headers })
      return { status: response.status, json: Object(await response.json()) }
    }
    try {
      await send('POST', '/agents', aidip('kept', { description: 'As it was.' }))
      const key = await send('POST', '/admin/keys', { subject: 'app', scopes: ['discover'] })
      const { id } = Object(await key.json())
      const { json: before } = await read('/health/ready')
      expect(await bench.cli('backup', at('live.backup'), '--database', url)).toMatchObject({ code: 0 })
      await send('PUT', '/agents/kept', aidip('kept', { description: 'Changed since.' }))
      await send('POST', '/agents', aidip('later'))
      await send('DELETE', `/admin/keys/${id}`, undefined)
      const { stdout, stderr, code } = await bench.cli('restore', at('live.backup'), '--database', url, '--replace')
      expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/restored .*: 1 agent,/), expect.anything()])
      await expect.poll(async () => (await read('/agents/later')).status, { timeout: 60_000 }).toBe(404)
      await expect
        .poll(async () => (await read('/agents/kept')).json, { timeout: 60_000 })
        .toMatchObject({ description: 'As it was.' })
      await expect.poll(async () => JSON.stringify((await read('/admin/keys')).json), { timeout: 60_000 }).toContain(id)
      // New writes continue, with revisions that nobody has seen.
      expect((await send('POST', '/agents', aidip('next'))).status).toBe(201)
      expect((await read('/health/ready')).json.revision).toBeGreaterThan(before.revision + 1_000_000)
    } finally {
      await replica.stop()
      await fresh?.drop()
    }
  })
})
