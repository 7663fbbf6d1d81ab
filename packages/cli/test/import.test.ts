import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { stringify } from 'yaml'
import { run } from '../src/run.js'
import { aidip, type Bench, startBench, startWeb } from './support/cli.js'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
})
afterAll(() => bench.close())

const lines = (...items: unknown[]): string => items.map((item) => JSON.stringify(item)).join('\n')
const isThere = async (id: string): Promise<boolean> => (await bench.stranger('get', id)).code === 0
const card = (name: string): object => ({
  name,
  description: 'A card.',
  url: `https://${name}.example/a2a`,
  version: '1.0.0',
  protocolVersion: '0.3.0',
  capabilities: {},
  defaultInputModes: [],
  defaultOutputModes: [],
  skills: [{ id: 's', name: 'S', description: 'S', tags: [] }],
})
const mcpServer = (name: string): object => ({
  name,
  description: 'A server.',
  version: '1.0.0',
  remotes: [{ type: 'streamable-http', url: `https://${name.replace('/', '.')}/mcp` }],
})

/** An OpenAPI document as its publishers have it. */
const openapi = (id: string, version: string): object => ({
  openapi: version,
  info: { title: 'Pets', version: '1.0.0', description: 'Finds pets.', 'x-agent-id': id },
  servers: [{ url: 'https://{region}.pets.example', variables: { region: { default: 'eu' } } }],
  paths: { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'ok' } } } } },
})

describe('OpenAPI documents', () => {
  it.each(['3.0.3', '3.1.0'])('of version %s are registered and imported, as JSON and as YAML', async (version) => {
    const inYaml = (id: string): string => stringify(openapi(id, version))
    const registered = await bench.cli('register', bench.file('pets.yaml', inYaml('pets-yaml')))
    expect(registered).toMatchObject({ code: 0, stdout: expect.stringMatching(/^(registered|updated) pets-yaml\n$/) })
    const files = [bench.file('pets.json', openapi('pets-json', version)), bench.file('pets.yml', inYaml('pets-yml'))]
    expect(await bench.cli('import', ...files)).toMatchObject({ code: 0, stderr: '' })
    for (const id of ['pets-yaml', 'pets-json', 'pets-yml']) {
      const shown = JSON.parse((await bench.stranger('get', id, '--json')).stdout)
      expect(shown).toMatchObject({ endpoint: 'https://eu.pets.example', operations: [{ name: 'listPets' }] })
    }
    const broken = await bench.cli('register', bench.file('broken.yaml', 'openapi: [3'))
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining('broken.yaml: is not valid YAML') })
  })
})

describe('switchboard import', () => {
  it('reads catalogs (ARD 0.91 §5.2): what entries contain, what they refer to, and catalogs within catalogs', async () => {
    const web = await startWeb((_request, response) => response.end(JSON.stringify(card('catalogued'))))
    const entry = (name: string, type: string, more: object): object => ({
      identifier: `urn:air:acme.example:agents:${name}`,
      displayName: name,
      type,
      ...more,
    })
    const nested = {
      specVersion: '1.0',
      entries: [entry('server', 'application/mcp-server-card+json', { data: mcpServer('io.example/nested') })],
    }
    const file = bench.file('ard.json', {
      specVersion: '1.0',
      entries: [
        entry('card', 'application/a2a-agent-card+json', {
          url: `${web.url}/card.json`,
          representativeQueries: ['read my letter', 'write an answer'],
        }),
        entry('suite', 'application/ai-catalog+json', { data: nested }),
        entry('registry', 'application/ai-registry+json', { url: 'https://acme.example/ard/' }),
        entry('data', 'application/parquet', { url: 'https://acme.example/data.parquet' }),
      ],
    })
    const answer = await bench.cli('import', file, '--allow-private')
    expect(answer).toMatchObject({ code: 1, stdout: 'imported 2 (2 new, 0 updated), 1 failed\n' })
    expect(answer.stderr).toContain('application/parquet, which describes no agent')
    expect(await isThere('urn:air:acme.example:agents:server')).toBe(true)
    const { stdout } = await bench.stranger('get', 'urn:air:acme.example:agents:card', '--json')
    expect(JSON.parse(stdout).examples).toEqual([{ text: 'read my letter' }, { text: 'write an answer' }])
    await web.close()
  })

  it('reads cards, MCP servers, lists, dumps and lines of JSON', async () => {
    const files = [
      bench.file('card.json', card('card-one')),
      bench.file('server.json', mcpServer('io.example/one')),
      bench.file('registry.json', { servers: [{ server: mcpServer('io.example/two'), _meta: {} }], metadata: {} }),
      bench.file('dump.json', [aidip('dumped-1'), aidip('dumped-2')]),
      bench.file('page.json', { agents: [aidip('paged')], count: 1 }),
      bench.file('lines.ndjson', `${lines(aidip('line-1'), { document: card('card-two'), id: 'enveloped' })}\n\n`),
      bench.file('unnamed', lines(aidip('line-2'), aidip('line-3'))),
      bench.file('entry.json', { agent: 'lapsing', base: 'https://lapsing.example', protocols: ['https'], lt: 60 }),
    ]
    const answer = await bench.cli('import', ...files)
    expect(answer).toMatchObject({ code: 0, stdout: 'imported 11 (11 new, 0 updated), 0 failed\n', stderr: '' })
    for (const id of ['io.example/two', 'dumped-2', 'paged', 'line-1', 'enveloped', 'line-3', 'lapsing']) {
      expect([id, await isThere(id)]).toEqual([id, true])
    }
    const again = await bench.cli('import', bench.file('dump.json', [aidip('dumped-1'), aidip('dumped-2')]), '--json')
    expect(
      again.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toMatchObject([
      { status: 'updated', id: 'dumped-1' },
      { status: 'updated', id: 'dumped-2' },
    ])
    expect(again.stderr).toBe('imported 2 (0 new, 2 updated), 0 failed\n')
  })

  it('reports failures with their source, continues with the others, and exits with 1', async () => {
    const file = bench.file(
      'some.ndjson',
      ['{"a":', JSON.stringify(aidip('good')), '7', '{"x":1}', 'x'.repeat(300_001)].join('\n'),
    )
    const answer = await bench.cli('import', file, '/no/such/file', bench.file('bad.json', '[1,]'))
    expect([answer.code, answer.stdout]).toEqual([1, 'imported 1 (1 new, 0 updated), 6 failed\n'])
    const reported = answer.stderr.split('\n')
    expect(reported).toEqual([
      expect.stringMatching(/some\.ndjson:1: .*JSON/),
      expect.stringMatching(/some\.ndjson:3: a document must be a JSON object/),
      expect.stringMatching(/some\.ndjson:4: the format of the document cannot be detected/),
      expect.stringMatching(/some\.ndjson:5: the line is longer/),
      expect.stringMatching(/\/no\/such\/file: .*ENOENT/),
      expect.stringMatching(/bad\.json: .*JSON/),
      '',
    ])
    expect(await isThere('good')).toBe(true)
  })

  it('shows how many documents there are, for lists, lines and several files', async () => {
    const shown: string[] = []
    const write = vi.spyOn(process.stderr, 'write').mockImplementation((text) => shown.push(String(text)) > 0)
    vi.spyOn(process.stdout, 'write').mockReturnValue(true)
    const isTTY = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY')
    Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true })
    vi.stubEnv('SWITCHBOARD_URL', bench.url)
    vi.stubEnv('SWITCHBOARD_TOKEN', bench.adminKey)
    try {
      const files = [
        bench.file('shown.json', [aidip('s-1'), aidip('s-2')]),
        bench.file('shown.ndjson', lines(aidip('s-3'), aidip('s-4'), aidip('s-5'))),
        bench.file('one.json', aidip('s-6')),
      ]
      expect(await run(['import', ...files])).toBe(0)
    } finally {
      Object.defineProperty(process.stderr, 'isTTY', isTTY ?? { value: undefined, configurable: true })
      write.mockRestore()
      vi.restoreAllMocks()
      vi.unstubAllEnvs()
    }
    // The sources that are read ahead are known, the others count as one each.
    expect(shown.join('')).toMatch(/\] 1 of 6/)
  })

  it('waits when the directory allows no more registrations, and loses none', async () => {
    let rejected = 0
    const registered = new Set<string>()
    const web = await startWeb(({ body, url }, response) => {
      if (url !== '/agents') return response.writeHead(404).end()
      const { id } = JSON.parse(body)
      if (rejected++ < 6) return response.writeHead(429, { 'retry-after': '0' }).end('{"error":{}}')
      registered.add(id)
      return response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ id }))
    })
    try {
      const file = bench.file('limited.json', [aidip('l-1'), aidip('l-2')])
      const answer = await bench.cli('import', file, '--url', web.url)
      expect(answer).toMatchObject({ code: 0, stdout: 'imported 2 (2 new, 0 updated), 0 failed\n' })
      expect([...registered].sort()).toEqual(['l-1', 'l-2'])
    } finally {
      await web.close()
    }
  })

  it('registers documents whose format it cannot detect with --format, or --face', async () => {
    const unclear = { x_id: 'unclear', description: 'Nobody knows.' }
    const file = bench.file('unclear.ndjson', lines(unclear, unclear, { document: unclear }))
    const undetected = await bench.cli('import', file)
    expect(undetected.code).toBe(1)
    expect(undetected.stderr).toMatch(
      /^switchboard: 3 documents failed \(\S+:1, \S+:2, \S+:3\): .* choose one with --format \(aidip, /,
    )
    expect((await bench.cli('import', file, '--bulk')).stderr).toMatch(/3 documents failed .* choose one with --format/)
    for (const flag of ['--format', '--face']) {
      // Read as A2A cards, they lack members.
      const chosen = await bench.cli('import', file, flag, 'a2a', '--bulk')
      expect(chosen.stderr).toMatch(/3 documents failed .*name/)
      expect(chosen.stderr).not.toMatch(/detected/)
    }
    expect(await bench.cli('import', file, '--face', 'x')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--format must be one of aidip, /),
    })
    expect(await bench.cli('import', file, '--face', 'a2a', '--format', 'mcp')).toMatchObject({ code: 2 })
  })

  it('stops at once if no document can be registered', async () => {
    const file = bench.file('two.json', [aidip('a'), aidip('b')])
    expect(await bench.stranger('import', file)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^[^\n]*--token[^\n]*\n$/),
    })
  })

  it('imports thousands in bulk with an administrator’s key', async () => {
    const many = Array.from({ length: 2000 }, (_, n) => aidip(`bulk-${n}`))
    const file = bench.file('bulk.ndjson', lines(...many, { nothing: true }))
    const answer = await bench.cli('import', file, '--bulk')
    expect([answer.code, answer.stdout]).toEqual([1, 'imported 2000 (2000 new, 0 updated), 1 failed\n'])
    expect(answer.stderr).toMatch(/bulk\.ndjson:2001: .*format of the document cannot be detected/)
    expect(await isThere('bulk-1999')).toBe(true)
    expect((await bench.stranger('import', file, '--bulk')).code).toBe(1)
  }, 60_000)

  it('reads all agents of a host’s agents.json, or the one found there, or one document', async () => {
    const descriptor = (name: string) => ({
      name,
      version: '1.0.0',
      url: `https://${name}.example/`,
      capabilities: [{ name: 'x' }],
    })
    const web = await startWeb(({ url }, response) => {
      const documents: Record<string, unknown> = {
        '/.well-known/agents.json': {
          agents: { first: '/a/agent.json', second: '/b/agent.json', lost: '/c/agent.json' },
        },
        '/a/agent.json': descriptor('first'),
        '/b/agent.json': descriptor('second'),
        '/cards/third.json': card('third'),
      }
      const found = documents[url]
      response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(found ?? {}))
    })
    try {
      const host = await bench.cli('import', `${web.url}/`, '--json')
      expect(
        host.stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ).toMatchObject([
        { status: 'created', id: 'https://first.example/' },
        { status: 'created', id: 'https://second.example/' },
        { status: 'failed', from: `${web.url}/lost` },
      ])
      expect(await bench.cli('import', `${web.url}/cards/third.json`)).toMatchObject({ code: 0 })
      expect(await bench.cli('register', `${web.url}/cards/third.json`, '--id', 'third')).toMatchObject({ code: 0 })
      expect(await isThere('third')).toBe(true)
      expect(await bench.cli('import', `${web.url}/nothing.json`)).toMatchObject({ code: 1 })
      const several = await bench.cli('register', `${web.url}/`)
      expect(several).toMatchObject({ code: 2, stderr: expect.stringMatching(/switchboard import/) })
    } finally {
      await web.close()
    }
  })
})
