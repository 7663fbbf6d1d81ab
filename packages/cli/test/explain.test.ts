import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aidip, type Bench, startBench } from './support/cli.js'
import { runQuietly } from './support/run-quietly.js'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
  for (const id of ['baker', 'butcher'])
    await bench.cli(
      'register',
      bench.file(`${id}.json`, aidip(id, { bindings: [{ protocol: 'mcp', endpoint: 'https://mcp.example.net/' }] })),
    )
})
afterAll(() => bench.close())

describe('switchboard explain', () => {
  it('shows the rank of an agent and what its score consists of', async () => {
    const { code, stdout } = await bench.cli('explain', 'what', 'a', 'baker', 'does', 'baker')
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^number 1 of \d for "what a baker does"\n\nbaker {2}0\.\d{4} {2}The baker\n {2}words +█+ +\+0\.\d{4} {2}/,
    )
    const { rank, explanation } = JSON.parse((await bench.cli('explain', 'baker', 'baker', '--json')).stdout)
    expect([rank, explanation.length > 0]).toEqual([1, true])
  })

  it('says why an agent is not found, with exit code 1', async () => {
    expect(await bench.cli('explain', 'baker', 'butcher')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^not found for "baker": none of its texts has a word/),
    })
    expect(await bench.cli('explain', 'baker', 'nobody')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no agent "nobody" that you may see'),
    })
    await bench.cli('register', bench.file('idle.json', aidip('idle', { status: 'inactive' })))
    expect((await bench.cli('explain', 'idle', 'idle')).stdout).toMatch(
      /searches leave out agents that are inactive\n\nidle {2}0\./,
    )
  })
})

describe('switchboard get --view', () => {
  it.each([
    ['aidip', { id: 'baker', capabilities: ['baker-things'] }],
    ['aidip-00', { id: 'baker' }],
    ['profile', { id: 'baker' }],
    ['ad', { agent: 'baker', capabilities: [{ name: 'baker-things' }, {}] }],
    ['agent.json', { name: expect.anything(), capabilities: expect.anything() }],
    ['descriptor', { name: expect.anything() }],
    ['a2a', { skills: expect.anything() }],
    ['mcp', { name: expect.anything() }],
  ])('prints the document as %s', async (view, document) => {
    const { code, stdout } = await bench.cli('get', 'baker', '--view', view)
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject(document)
    if (view === 'a2a') expect(JSON.parse(stdout)).not.toHaveProperty('id')
  })
})

describe('switchboard grants', () => {
  it('adds, lists and removes grants', async () => {
    const { stdout } = await bench.cli('grants', 'add', 'app-1', '--agent', 'baker', '--scopes', 'discover')
    expect(stdout).toMatch(/^[0-9a-f]{18}\n$/)
    await bench.cli('grants', 'add', 'app-2', '--tag', 'hr')
    expect((await bench.cli('grants', 'list')).stdout).toMatch(
      /^ID +SUBJECT +SCOPES +AGENT OR TAG\n[0-9a-f]+ +app-1 +discover +baker\n[0-9a-f]+ +app-2 +discover invoke +tag hr\n$/,
    )
    expect((await bench.cli('grants', 'remove', stdout.trim())).stdout).toBe(`removed ${stdout.trim()}\n`)
    expect(JSON.parse((await bench.cli('grants', 'list', '--json')).stdout)).toMatchObject([
      { subject: 'app-2', tag: 'hr' },
    ])
    expect(await bench.cli('grants', 'add', 'app-1')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--agent ID or --tag/),
    })
    expect((await bench.cli('grants', 'add', 'app-1', '--agent', 'nobody')).code).toBe(1)
  })
})

describe('switchboard audit --follow', () => {
  it('prints new entries until it has enough', async () => {
    const following = bench.start('audit', '--follow', '--action', 'key.create', '--limit', '2')
    await bench.cli('keys', 'create', 'one')
    await following.printed(/ for one\n/)
    await bench.cli('keys', 'create', 'two')
    expect(await following.ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/ for one\n[^\n]* for two\n$/),
    })
  })
})

describe('switchboard doctor', () => {
  it('recognises the running directory, and its data', async () => {
    const port = new URL(bench.url).port
    const config = `${bench.folder}/config.json`
    const run = await runQuietly(['doctor', '--port', port, '--data', bench.data, '--config', config, '--json'])
    const { ok, checks } = JSON.parse(run.stdout)
    expect([run.code, ok]).toEqual([0, true])
    expect(
      Object.fromEntries(checks.map(({ check, text }: { check: string; text: string }) => [check, text])),
    ).toMatchObject({
      directory: expect.stringMatching(/^ready at http:.*, with \d agents$/),
      port: expect.stringMatching(/is used by the directory/),
      data: expect.stringMatching(/has \d agents, and a server uses it$/),
      clock: expect.stringMatching(/s (behind|ahead of) that of the directory$/),
      model: 'not used: searches by words only',
    })
  })

  it('fails for settings that do not work, and says what to do', async () => {
    const config = bench.file('wrong.json', { search: { embedder: { folder: '/no/such/model' } } })
    const database = 'postgres://127.0.0.1:1/x'
    const { code, stdout } = await runQuietly(['doctor', '--port', '0', '--database', database, '--config', config])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^fail {2}database +PostgreSQL at .*\n +→ check that PostgreSQL is running/m)
    expect(stdout).toMatch(/^fail {2}model +.*\/no\/such\/model.*\n +→ /m)
    const bad = await runQuietly(['doctor', '--host', '0.0.0.0'])
    expect(bad).toMatchObject({ code: 1, stdout: expect.stringMatching(/^fail {2}settings +plain HTTP.*\n +→ /m) })
  })
})
