import { ERROR_KINDS, type JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestCaller, type TestDirectory, type TestResponse } from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'
import { expectError } from './support/errors.js'
import { sendRaw } from './support/raw.js'

const JSON_TYPE = 'application/json'
const PROBLEM = 'application/problem+json'

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

interface Case {
  readonly id: string
  readonly method: Method
  readonly path: string
  readonly as?: TestCaller
  readonly body?: JsonObject
  readonly headers?: Record<string, string>
  readonly type: string
  readonly status: number
  /** The profile's code; `name` is AIDIP's. */
  readonly code: string
  readonly name: string
}

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
  const stamped = { updated_at: '2026-05-08T00:00:00Z' }
  await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'here', ...stamped }) })
  await directory.post('/discover/agents', { as: 'tokA', body: fixture('FX-D0', { id: 'profiled', ...stamped }) })
  await directory.post('/ad/r?agent=registered', { as: 'tokA', body: fixture('FX-SUM') })
})
afterAll(() => directory.close())

const old = { updated_at: '2026-01-01T00:00:00Z' }
const agent = (changes: JsonObject = {}): JsonObject => aidipAgent({ id: 'here', ...changes })
const metadata = (changes: JsonObject = {}): JsonObject => fixture('FX-D0', { id: 'profiled', ...changes })

const CASES: readonly Case[] = [
  {
    id: 'PROF-12-05',
    method: 'post',
    path: '/agents',
    as: 'tokA',
    body: {},
    type: JSON_TYPE,
    status: 400,
    code: 'invalid_request',
    name: 'InvalidInput',
  },
  {
    id: 'PROF-12-05',
    method: 'post',
    path: '/discover',
    body: {},
    type: JSON_TYPE,
    status: 400,
    code: 'invalid_request',
    name: 'InvalidInput',
  },
  {
    id: 'PROF-12-05',
    method: 'post',
    path: '/ad/r?agent=x',
    as: 'tokA',
    body: {},
    type: PROBLEM,
    status: 400,
    code: 'invalid_request',
    name: 'InvalidInput',
  },
  {
    id: 'PROF-12-05',
    method: 'get',
    path: '/ad/l?count=0',
    type: PROBLEM,
    status: 400,
    code: 'invalid_request',
    name: 'InvalidInput',
  },
  {
    id: 'PROF-12-05',
    method: 'post',
    path: '/admin/keys',
    as: 'admin',
    body: {},
    type: JSON_TYPE,
    status: 400,
    code: 'invalid_request',
    name: 'InvalidInput',
  },
  {
    id: 'PROF-12-06',
    method: 'post',
    path: '/discover',
    body: { query: 'x', constraints: { z: 1 } },
    headers: { prefer: 'handling=strict' },
    type: JSON_TYPE,
    status: 400,
    code: 'unsupported_filter',
    name: 'UnsupportedFilter',
  },
  {
    id: 'PROF-12-07',
    method: 'post',
    path: '/discover/agents',
    body: metadata(),
    type: JSON_TYPE,
    status: 401,
    code: 'unauthorized',
    name: 'Unauthorized',
  },
  {
    id: 'PROF-12-07',
    method: 'post',
    path: '/ad/r?agent=x',
    body: fixture('FX-SUM'),
    type: PROBLEM,
    status: 401,
    code: 'unauthorized',
    name: 'Unauthorized',
  },
  {
    id: 'PROF-12-07',
    method: 'get',
    path: '/agents',
    headers: { authorization: 'Bearer wrong' },
    type: JSON_TYPE,
    status: 401,
    code: 'unauthorized',
    name: 'Unauthorized',
  },
  {
    id: 'PROF-12-08',
    method: 'post',
    path: '/discover/agents',
    as: 'tokC',
    body: metadata(),
    type: JSON_TYPE,
    status: 403,
    code: 'forbidden',
    name: 'Forbidden',
  },
  {
    id: 'PROF-12-08',
    method: 'put',
    path: '/agents/here',
    as: 'tokB',
    body: agent(),
    type: JSON_TYPE,
    status: 403,
    code: 'forbidden',
    name: 'Forbidden',
  },
  {
    id: 'PROF-12-08',
    method: 'delete',
    path: '/ad/r/3',
    as: 'tokB',
    type: PROBLEM,
    status: 403,
    code: 'forbidden',
    name: 'Forbidden',
  },
  {
    id: 'PROF-12-09',
    method: 'post',
    path: '/agents',
    as: 'tokB',
    body: agent(),
    type: JSON_TYPE,
    status: 409,
    code: 'conflict',
    name: 'Conflict',
  },
  {
    id: 'PROF-12-09',
    method: 'post',
    path: '/ad/r?agent=here',
    as: 'tokB',
    body: fixture('FX-SUM'),
    type: PROBLEM,
    status: 409,
    code: 'conflict',
    name: 'Conflict',
  },
  {
    id: 'PROF-12-10',
    method: 'get',
    path: '/agents/nothing',
    type: JSON_TYPE,
    status: 404,
    code: 'not_found',
    name: 'NotFound',
  },
  {
    id: 'PROF-12-10',
    method: 'get',
    path: '/discover/agents/nothing',
    type: JSON_TYPE,
    status: 404,
    code: 'not_found',
    name: 'NotFound',
  },
  {
    id: 'PROF-12-10',
    method: 'get',
    path: '/ad/r/99',
    type: PROBLEM,
    status: 404,
    code: 'not_found',
    name: 'NotFound',
  },
  {
    id: 'PROF-12-10',
    method: 'get',
    path: '/agents/nothing/agent.json',
    type: PROBLEM,
    status: 404,
    code: 'not_found',
    name: 'NotFound',
  },
  {
    id: 'PROF-12-11',
    method: 'post',
    path: '/agents',
    as: 'tokA',
    body: agent(old),
    type: JSON_TYPE,
    status: 409,
    code: 'stale_metadata',
    name: 'StaleMetadata',
  },
  {
    id: 'PROF-12-11',
    method: 'post',
    path: '/discover/agents',
    as: 'tokA',
    body: metadata(old),
    type: JSON_TYPE,
    status: 409,
    code: 'stale_metadata',
    name: 'StaleMetadata',
  },
  {
    id: 'PROF-12-11',
    method: 'put',
    path: '/agents/here',
    as: 'tokA',
    body: agent(),
    headers: { 'if-match': '"0-x"' },
    type: JSON_TYPE,
    status: 412,
    code: 'stale_metadata',
    name: 'StaleMetadata',
  },
  {
    id: 'C-68',
    method: 'get',
    path: '/agents/here/agent.json',
    headers: { accept: 'image/png' },
    type: PROBLEM,
    status: 406,
    code: 'not_acceptable',
    name: 'NotAcceptable',
  },
  {
    id: 'C-68',
    method: 'get',
    path: '/agents/here/invoke',
    type: JSON_TYPE,
    status: 405,
    code: 'method_not_allowed',
    name: 'MethodNotAllowed',
  },
  {
    id: 'C-68',
    method: 'post',
    path: '/agents',
    as: 'tokA',
    body: agent(),
    headers: { 'content-type': 'text/plain' },
    type: JSON_TYPE,
    status: 415,
    code: 'unsupported_media_type',
    name: 'UnsupportedMediaType',
  },
  {
    id: 'C-68',
    method: 'post',
    path: '/agents/search',
    body: { query: 'x'.repeat(300_000) },
    type: JSON_TYPE,
    status: 413,
    code: 'payload_too_large',
    name: 'PayloadTooLarge',
  },
  {
    id: 'C-68',
    method: 'post',
    path: '/ad/r?agent=x',
    as: 'tokA',
    body: { base: 'x'.repeat(300_000) },
    type: PROBLEM,
    status: 413,
    code: 'payload_too_large',
    name: 'PayloadTooLarge',
  },
]

const send = ({ method, path, as, body, headers }: Case, more: Record<string, string> = {}): Promise<TestResponse> =>
  directory[method](path, { ...(as && { as }), ...(body && { body }), headers: { ...headers, ...more } })

describe('an error', () => {
  it.each(CASES)('$id C-68 $method $path → $status $code, as $type', async (expected) => {
    const answer = await send(expected)
    expectError(answer, { status: expected.status, code: expected.code })
    expect(answer.json.error.code).toBe(expected.name)
    expect(answer.json.instance).toBe(expected.path.split('?')[0])
    expect(answer.headers.get('content-type')).toBe(`${expected.type}; charset=utf-8`)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    for (const name of ['etag', 'last-modified', 'link', 'location']) expect(answer.headers.get(name), name).toBeNull()
    if (expected.status === 401) expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm=/)
  })

  it.each(CASES.filter(({ path }) => !path.endsWith('.json')))(
    'C-68 $method $path is problem+json if the client accepts it',
    async (expected) => {
      for (const accept of [PROBLEM, `${JSON_TYPE};q=0.5, ${PROBLEM}`]) {
        const answer = await send(expected, { accept })
        expectError(answer, { status: expected.status, code: expected.code })
        expect(answer.headers.get('content-type')).toBe(`${PROBLEM}; charset=utf-8`)
      }
    },
  )

  it('C-68 has a type URL that can be fetched', async () => {
    const { json } = await directory.get('/agents/nothing')
    expect(json.type).toBe(`${directory.url}/problems/not-found`)
    const page = await fetch(json.type)
    expect([page.status, await page.json()]).toEqual([
      200,
      { code: 'not_found', title: json.title, status: 404, name: 'NotFound' },
    ])
    for (const [code, { status }] of Object.entries(ERROR_KINDS)) {
      const answer = await directory.get(`/problems/${code.replaceAll('_', '-')}`)
      expect(answer.json).toMatchObject({ code, status })
    }
    expectError(await directory.get('/problems/no-such-kind'), { status: 404 })
  })

  it('is never served as HTML, so markup from the request cannot run', async () => {
    const target = '/agents/%3Cscript%3Ealert(1)%3C%2Fscript%3E'
    for (const path of [target, `${target}/x`, '/<script>alert(1)</script>']) {
      const answer = await sendRaw(directory.url, { target: path, headers: { accept: 'text/html' } })
      expect(answer.headers.get('content-type')).toMatch(/^application\/(problem\+)?json/)
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    }
  })
})

describe('methods', () => {
  it('not allowed on a path get 405 with Allow, before credentials are checked', async () => {
    const { json } = await directory.get('/openapi.json')
    const paths: [string, string[]][] = Object.entries(json.paths).map(([path, methods]) => [
      path.replaceAll(/\{\w+\}/g, '1'),
      Object.keys(Object(methods)),
    ])
    for (const [path, has] of paths) {
      for (const method of (['get', 'post', 'put', 'patch', 'delete'] as const).filter((name) => !has.includes(name))) {
        const answer = await directory[method](path)
        expectError(answer, { status: 405, code: 'method_not_allowed' }, `${method} ${path}`)
        expect(answer.headers.get('allow')?.toLowerCase().split(', ').sort()).toEqual(has.sort())
      }
    }
  })

  it('HEAD is answered like GET, without a body', async () => {
    for (const path of [
      '/agents',
      '/agents/here',
      '/ad/l',
      '/agents/here/agent.json',
      '/agents/nothing',
      '/health/ready',
    ]) {
      const [head, get] = await Promise.all([
        fetch(directory.url + path, { method: 'HEAD' }),
        fetch(directory.url + path),
      ])
      expect([head.status, head.headers.get('content-type')], path).toEqual([
        get.status,
        get.headers.get('content-type'),
      ])
      expect(await head.text()).toBe('')
    }
  })

  it('that are unknown get 400, 404, 405 or 501', async () => {
    for (const method of ['TRACE', 'PROPFIND', 'LOCK', 'MKCOL', 'LINK', 'QUERY']) {
      const answer = await sendRaw(directory.url, {
        method,
        target: '/agents/here',
        headers: { 'x-api-key': directory.adminKey },
      })
      expect([400, 404, 405, 501], method).toContain(answer.status)
    }
    expect((await directory.get('/agents/here')).status).toBe(200)
  })
})

describe('unknown paths', () => {
  it.each([
    ['/nothing', JSON_TYPE],
    ['/agents/a/b/c', JSON_TYPE],
    ['/v2/agents', JSON_TYPE],
    ['/discover/nothing', JSON_TYPE],
    ['/admin', JSON_TYPE],
    ['/admin/nothing', JSON_TYPE],
    ['/ad', PROBLEM],
    ['/ad/x', PROBLEM],
    ['/ad/r/1/x', PROBLEM],
    ['/adx', JSON_TYPE],
    ['/.well-known/nothing', PROBLEM],
    ['/tasks/t1', PROBLEM],
    ['/.env', JSON_TYPE],
    ['/.git/config', JSON_TYPE],
  ])('GET %s is 404, as %s', async (path, type) => {
    const answer = await directory.get(path, { as: 'admin' })
    expectError(answer, { status: 404, code: 'not_found' })
    expect(answer.headers.get('content-type')).toBe(`${type}; charset=utf-8`)
  })
})

describe('C-69 content negotiation', () => {
  const NEGOTIATED = [
    '/agents/here/agent.json',
    '/agents/here/agent-card.json',
    '/agents/here/server.json',
    '/.well-known/agent.json',
    '/.well-known/agent-card.json',
  ]

  it('C-69 applies to descriptors only', async () => {
    const { json } = await directory.get('/openapi.json')
    const paths = Object.entries(json.paths)
      // There is no task, transfer or MCP server to request here.
      .filter(([path, methods]) => 'get' in Object(methods) && !/^\/(tasks|transfers|v0\.1\/servers)\//.test(path))
      .map(([path]) =>
        path
          .replace('{id}', path.startsWith('/problems') ? 'not-found' : 'here')
          .replace('{number}', '1')
          .replace('{page}', '0')
          .replace('{urn}', 'urn:air:agent.localhost:agent:here'),
      )
    await directory.put('/admin/agents/here/credential', { as: 'admin', body: { type: 'bearer', token: 'x' } })
    for (const path of paths) {
      const { status } = await directory.get(path, { as: 'admin', headers: { accept: 'image/png' } })
      expect(status, path).toBe(NEGOTIATED.includes(path) ? 406 : 200)
    }
    for (const path of ['/agents/search', '/v0/agents/search', '/discover']) {
      const answer = await directory.post(path, { body: { query: 'x' }, headers: { accept: 'image/png' } })
      expect([answer.status, answer.headers.get('content-type')], path).toEqual([
        200,
        'application/json; charset=utf-8',
      ])
    }
  })

  it('C-69 returns 406 with the supported types', async () => {
    for (const path of NEGOTIATED) {
      const answer = await directory.get(path, { headers: { accept: 'text/html, image/*;q=0.5' } })
      expectError(answer, { status: 406, says: /application\/json/ }, path)
      expect(answer.json.supported).toContain('application/json')
    }
  })
})

describe('C-74 the request id', () => {
  const getWithId = (path: string, id?: string): Promise<TestResponse> =>
    directory.get(path, id === undefined ? {} : { headers: { 'x-request-id': id } })

  it('C-74 PROF-12-03 is the client’s if it is well-formed, in header and body', async () => {
    for (const id of ['a', 'req-1', '4f0c2a5e-1b7e-4a7a-9a57-0d7e9f6d9a11', 'a.b:c_d', 'x'.repeat(128)]) {
      for (const path of [
        '/agents',
        '/agents/nothing',
        '/ad/r/99',
        '/no/such',
        '/health/ready',
        '/agents/here/agent.json',
      ]) {
        const { headers, json, status } = await getWithId(path, id)
        expect(headers.get('x-request-id'), path).toBe(id)
        if (status >= 400) expect(json.correlation_id, path).toBe(id)
      }
    }
    const found = await directory.post('/discover', { body: { query: 'x' }, headers: { 'x-request-id': 'mine' } })
    expect(found.json.request_id).toBe('mine')
  })

  it('C-74 is generated if it is missing or malformed, and is unique', async () => {
    const seen = new Set<string>()
    const odd = [undefined, '', ' ', 'a b', 'x'.repeat(129), 'a/b', '<b>', 'a,b', 'ü', '"x"', '%{x}']
    for (const id of odd) {
      const { headers, json } = await getWithId('/agents/nothing', id)
      const given = headers.get('x-request-id') ?? ''
      expect(given, id).toMatch(/^[0-9a-f-]{36}$/)
      expect(json.correlation_id).toBe(given)
      seen.add(given)
    }
    expect(seen.size).toBe(odd.length)
  })
})
