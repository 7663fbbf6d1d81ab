import type { JsonObject, JsonValue } from '@switchboard/protocol'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  type RequestOptions,
  startDirectory,
  type TestCaller,
  type TestDirectory,
  type TestResponse,
} from './support/directory.js'
import { aidipAgent, fixture } from './support/documents.js'
import { expectError } from './support/errors.js'
import { type RawRequest, sendBytes, sendRaw } from './support/raw.js'

/** A route that accepts a JSON body. */
interface Target {
  readonly name: string
  readonly method: 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  readonly as: TestCaller
  /** A body that the route accepts. */
  readonly valid: JsonObject
  /** Known members by JSON pointer, with their types. */
  readonly members: Readonly<Record<string, Kind>>
  /** The body is optional: the request has another meaning without one. */
  readonly bodyOptional?: boolean
}

type Kind = 'text' | 'texts' | 'objects' | 'object' | 'flag' | 'whole' | 'number' | 'text or object'

const WRONG: Record<Kind, readonly JsonValue[]> = {
  text: [null, 1, true, [], {}],
  texts: [null, 1, 'text', {}, [1], [null], [['x']], [{}]],
  objects: [null, 1, 'text', {}, [1], [null], ['x'], [[]]],
  object: [null, 1, 'text', [], false],
  flag: [null, 1, 'true', [], {}],
  whole: [null, '1', 1.5, [], {}, true],
  number: [null, '1', [], {}, true],
  'text or object': [null, 1, true, []],
}

const AIDIP: Record<string, Kind> = {
  '/id': 'text',
  '/name': 'text',
  '/description': 'text',
  '/version': 'text',
  '/publisher': 'text',
  '/capabilities': 'texts',
  '/tags': 'texts',
  '/endpoint': 'text',
  '/supported_languages': 'texts',
  '/authentication': 'text or object',
  '/authentication/type': 'text',
  '/authentication/instructions': 'text',
  '/authentication/scopes': 'texts',
  '/status': 'text',
  '/inputs': 'object',
  '/outputs': 'object',
  '/operations': 'objects',
  '/operations/0/name': 'text',
  '/operations/0/description': 'text',
  '/operations/0/endpoint': 'text',
  '/operations/0/inputs': 'object',
  '/operations/0/outputs': 'object',
  '/operations/0/examples': 'objects',
  '/protocols': 'texts',
  '/certification': 'object',
  '/last_update': 'text',
  '/updated_at': 'text',
  '/expires_at': 'text',
  '/sequence': 'whole',
  '/visibility': 'text',
  '/private': 'texts',
}
const PROFILE: Record<string, Kind> = {
  '/id': 'text',
  '/name': 'text',
  '/description': 'text',
  '/tags': 'texts',
  '/examples': 'objects',
  '/examples/0/id': 'text',
  '/examples/0/text': 'text',
  '/examples/0/tags': 'texts',
  '/examples/0/input_schema': 'object',
  '/examples/0/output_schema': 'object',
  '/examples/0/language': 'text',
  '/examples/0/private': 'flag',
  '/bindings': 'objects',
  '/bindings/0/protocol': 'text',
  '/bindings/0/endpoint': 'text',
  '/bindings/0/media_types': 'texts',
  '/bindings/0/interaction_model': 'text',
  '/bindings/0/priority': 'whole',
  '/auth': 'object',
  '/constraints': 'object',
  '/status': 'text',
  '/version': 'text',
  '/updated_at': 'text',
  '/expires_at': 'text',
  '/signature': 'object',
  '/visibility': 'text',
  '/private': 'texts',
}
const DIRECTORY: Record<string, Kind> = {
  '/base': 'text',
  '/description': 'text',
  '/protocols': 'texts',
  '/capabilities': 'objects',
  '/capabilities/0/name': 'text',
  '/capabilities/0/type': 'text',
  '/capabilities/0/description': 'text',
  '/capabilities/0/tags': 'texts',
  '/capabilities/0/input_schema': 'object',
  '/capabilities/0/output_schema': 'object',
  '/version': 'text',
  '/vendor': 'text',
  '/identity': 'text',
  '/identity_type': 'text',
  '/visibility': 'text',
  '/private': 'texts',
}
const SEARCH: Record<string, Kind> = {
  '/query': 'text',
  '/filters': 'object',
  '/filters/capabilities': 'texts',
  '/filters/tags': 'texts',
  '/filters/supported_languages': 'texts',
  '/top': 'whole',
  '/skip': 'whole',
  '/ranked': 'flag',
  '/include_metadata': 'flag',
}
const DISCOVER: Record<string, Kind> = {
  '/query': 'text',
  '/required_tags': 'texts',
  '/preferred_tags': 'texts',
  '/excluded_tags': 'texts',
  '/protocols': 'texts',
  '/constraints': 'object',
  '/limit': 'whole',
  '/include_evidence': 'flag',
  '/detail': 'text',
  '/client_context': 'object',
}

const aidip = (path: string, method: 'POST' | 'PUT' = 'POST'): Target => ({
  name: `${method} ${path}`,
  method,
  path,
  as: 'tokA',
  valid: aidipAgent({ id: method === 'PUT' ? 'here' : 'never' }),
  members: AIDIP,
})
const search = (path: string): Target => ({
  name: `POST ${path}`,
  method: 'POST',
  path,
  as: 'anon',
  valid: { query: 'probe' },
  members: SEARCH,
})

const TARGETS: readonly Target[] = [
  aidip('/agents'),
  aidip('/v0/agents'),
  aidip('/v1/agents'),
  aidip('/agents/here', 'PUT'),
  aidip('/v0/agents/here', 'PUT'),
  search('/agents/search'),
  search('/v0/agents/search'),
  { name: 'POST /discover', method: 'POST', path: '/discover', as: 'anon', valid: { query: 'x' }, members: DISCOVER },
  {
    name: 'POST /discover/agents',
    method: 'POST',
    path: '/discover/agents',
    as: 'tokA',
    valid: fixture('FX-D0', { id: 'never' }),
    members: PROFILE,
  },
  {
    name: 'POST /ad/r',
    method: 'POST',
    path: '/ad/r?agent=never',
    as: 'tokA',
    valid: fixture('FX-SUM'),
    members: DIRECTORY,
  },
  {
    name: 'POST /ad/r/{n}',
    method: 'POST',
    path: '/ad/r/1',
    as: 'tokA',
    valid: fixture('FX-SUM'),
    members: DIRECTORY,
    bodyOptional: true,
  },
  {
    name: 'POST /admin/keys',
    method: 'POST',
    path: '/admin/keys',
    as: 'admin',
    valid: { subject: 'x', scopes: ['publish'] },
    members: { '/subject': 'text', '/scopes': 'texts', '/names': 'texts', '/expires_in': 'whole' },
  },
  {
    name: 'POST /admin/grants',
    method: 'POST',
    path: '/admin/grants',
    as: 'admin',
    valid: { subject: 'x', agent: 'here', scopes: ['discover'] },
    members: { '/subject': 'text', '/agent': 'text', '/tag': 'text', '/scopes': 'texts' },
  },
  {
    name: 'PATCH /admin/agents/{id}',
    method: 'PATCH',
    path: '/admin/agents/here',
    as: 'admin',
    valid: { unsafe: true },
    // null removes a mark, so it is not a wrong type here.
    members: {},
  },
]

let directory: TestDirectory
/** What was there after the last test. */
let before: string

beforeAll(async () => {
  directory = await startDirectory()
  await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'here' }) })
  // Create the keys of all callers now, so that the list of keys does not change during the tests.
  for (const as of ['tokB', 'tokC'] as const) await directory.get('/agents', { as })
  expect((await directory.get('/ad/r/1')).json.agent).toBe('here')
  before = await contents()
})
afterAll(() => directory.close())

/** Everything in the store that an administrator can see. */
async function contents(): Promise<string> {
  const parts = [
    '/health/ready',
    '/agents?top=100&include_metadata=true',
    '/admin/keys',
    '/admin/grants',
    // Refusals and sign-ins change nothing but the audit log.
    '/admin/audit?outcome=ok',
  ]
  const answers = await Promise.all(parts.map((path) => directory.get(path, { as: 'admin' })))
  const steady = (text: string): string =>
    text.replace(/"search_time":[\d.]+/, '').replaceAll(/\{[^{}]*"action":"sign-in"[^{}]*\},?/g, '')
  return answers.map(({ status, text }) => `${status} ${steady(text)}`).join('\n')
}

afterEach(async () => {
  const expected = before
  before = await contents()
  expect(before).toBe(expected)
  expect((await directory.get('/health/ready')).status).toBe(200)
  expect(Object.keys(Object.prototype)).toEqual([])
  expect('polluted' in {}).toBe(false)
})

const METHOD = { POST: 'post', PUT: 'put', PATCH: 'patch' } as const

const send = ({ method, path, as }: Target, options: RequestOptions): Promise<TestResponse> =>
  directory[METHOD[method]](path, { as, ...options })

/** The document with one member replaced; missing parents are created. */
function withMember(document: JsonObject, pointer: string, value: JsonValue): JsonObject {
  const result = structuredClone(document)
  const steps = pointer.slice(1).split('/')
  const last = steps.pop() ?? ''
  let at: JsonValue = result
  for (const [i, step] of steps.entries()) {
    const next = steps[i + 1] ?? last
    const parent: JsonObject = Object(at)
    if (typeof parent[step] !== 'object' || parent[step] === null) parent[step] = next === '0' ? [{}] : {}
    at = parent[step]
  }
  Object(at)[last] = value
  return result
}

describe.each(TARGETS)('$name', (target) => {
  it('rejects invalid JSON and says where the error is', async () => {
    const texts = [
      '{',
      '[',
      '{"name":}',
      "{'name':'x'}",
      '{name:1}',
      '{"name":"x",}',
      '[1,]',
      '{"name":"x"} trailing',
      '{"name" "x"}',
      '{"name":"unclosed',
      '{"name":"\\x41"}',
      '{"name":"\\u12"}',
      '{"name":"tab\tinside"}',
      '{"name":"line\ninside"}',
      '{"name":"nul\u0000inside"}',
      '\u0000',
      'nul',
      'undefined',
      'NaN',
      '{"top":Infinity}',
      '{"top":01}',
      '{"top":+1}',
      '{"top":.5}',
      '{"top":1.}',
      '{"top":0x10}',
      '// a comment\n{}',
      '<agent/>',
      '\ufeff',
      '   ',
      '{"version":1.2.3}',
    ]
    for (const raw of texts) {
      expectError(await send(target, { raw }), { status: 400, code: 'invalid_request' }, JSON.stringify(raw))
    }
  })

  it('rejects JSON that is not an object', async () => {
    for (const raw of ['null', 'true', '42', '"text"', '[]', '[{}]']) {
      expectError(await send(target, { raw }), { status: 400, code: 'invalid_request', says: /object/ }, raw)
    }
    if (!target.bodyOptional)
      expectError(await send(target, { raw: '' }), { status: 400, says: /empty/ }, 'an empty body')
  })

  it('rejects known members of the wrong type and names them', async () => {
    for (const [pointer, kind] of Object.entries(target.members)) {
      const values = pointer.startsWith('/filters/') ? [1, true, {}, [1], [{}]] : WRONG[kind]
      const answers = values.map(async (value) => {
        const body = withMember(target.valid, pointer, value)
        const answer = await send(target, { body })
        // If the items of a list have the wrong type, the error names the item.
        const item = Array.isArray(value) && value.length > 0 && kind !== 'text' && !pointer.startsWith('/filters/')
        const member = item && kind.endsWith('s') ? `${pointer}/0` : pointer
        expectError(answer, { status: 400, code: 'invalid_request', member }, `${pointer} ${JSON.stringify(value)}`)
      })
      await Promise.all(answers)
    }
  })

  it('rejects nesting deeper than 64, with 65 or a hundred thousand levels', async () => {
    const nested = (open: string, close: string, depth: number): string =>
      `{"extra":${open.repeat(depth)}1${close.repeat(depth)}}`
    for (const raw of [nested('[', ']', 64), nested('{"a":', '}', 64), nested('[', ']', 50_000), '['.repeat(100_000)]) {
      expectError(await send(target, { raw }), { status: 400, says: /nesting is deeper than 64/ }, raw.slice(0, 20))
    }
  })

  it('returns 413 for 10 MB, with a body that the client can read', async () => {
    const raw = JSON.stringify({ ...target.valid, extra: 'x'.repeat(10_000_000) })
    expectError(await send(target, { raw }), { status: 413, code: 'payload_too_large', says: /262144/ }, 'one text')
    // In chunks without a Content-Length, so that the server has to count.
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let i = 0; i < 100; i++) controller.enqueue(Buffer.alloc(100_000, 0x20))
        controller.close()
      },
    })
    const key = target.as === 'anon' ? undefined : await keyOf(target.as)
    const response = await fetch(directory.url + target.path, {
      method: target.method,
      headers: { 'content-type': 'application/json', ...(key !== undefined && { 'x-api-key': key }) },
      body: pieces,
      duplex: 'half',
    })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ code: 'payload_too_large', error: { code: 'PayloadTooLarge' } })
  })

  it('rejects a lone surrogate, as an escape and as bytes', async () => {
    const escaped = ['"\\ud800"', '"\\udc00"', '"x\\ud83dx"', '"\\udc00\\ud800"', '["\\uDFFF"]', '{"\\ud800":1}']
    for (const value of escaped) {
      const raw = `{"extra":${value}}`
      expectError(await send(target, { raw }), { status: 400, says: /surrogate/ }, raw)
    }
    const bytes = Buffer.from('{"extra":"???"}')
    bytes.set([0xed, 0xa0, 0x80], 10)
    expectError(await send(target, { raw: bytes }), { status: 400, says: /UTF-8/ }, 'the bytes of a lone surrogate')
  })

  it('rejects bytes that are not UTF-8', async () => {
    for (const sequence of [
      [0xff],
      [0xfe, 0xff],
      [0xc0, 0x80],
      [0xe0, 0x80, 0xaf],
      [0xf5, 0x80, 0x80, 0x80],
      [0xe2, 0x82],
    ]) {
      const raw = Buffer.concat([Buffer.from('{"extra":"'), Buffer.from(sequence), Buffer.from('"}')])
      expectError(await send(target, { raw }), { status: 400, says: /UTF-8/ }, sequence.join())
    }
    const utf16 = Buffer.from(JSON.stringify(target.valid), 'utf16le')
    const headers = { 'content-type': 'application/json; charset=utf-16' }
    expect((await send(target, { raw: utf16, headers })).status).toBeGreaterThanOrEqual(400)
  })

  it('rejects a duplicate member and names it', async () => {
    const inside = JSON.stringify(target.valid).slice(1)
    for (const raw of [
      `{"twice":1,"twice":1,${inside}`,
      `{"x":{"twice":1,"y":2,"twice":3},${inside}`,
      `{"x":[{"twice":1,"tw\\u0069ce":1}],${inside}`,
    ]) {
      expectError(await send(target, { raw }), { status: 400, says: /duplicate member "twice"/ }, raw)
    }
  })

  it('rejects __proto__ at any depth, without prototype pollution', async () => {
    const inside = JSON.stringify(target.valid).slice(1)
    for (const member of ['"__proto__"', '"\\u005f_proto__"', '"__pro\\u0074o__"']) {
      for (const raw of [
        `{${member}:{"polluted":1},${inside}`,
        `{"x":{${member}:{"polluted":1}},${inside}`,
        `{"x":[{${member}:1}],${inside}`,
      ]) {
        expectError(await send(target, { raw }), { status: 400, says: /__proto__/ }, raw)
      }
    }
  })

  it('rejects numbers that do not fit in a double', async () => {
    const inside = JSON.stringify(target.valid).slice(1)
    for (const number of ['1e400', '-1e400', '1E+999', `1${'0'.repeat(400)}`, '[1e309]', '{"x":1e309}']) {
      const raw = `{"extra":${number},${inside}`
      expectError(await send(target, { raw }), { status: 400, says: /too large for a double/ }, raw)
    }
  })

  it('returns 415 if the Content-Type is not JSON', async () => {
    const types = [
      'text/plain',
      'text/json',
      'application/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/octet-stream',
      'application/jsonp',
      'application/x-ndjson',
      'json',
      '/',
      ';',
      '*/*',
      'application/json/json',
      'application/json, text/plain',
      `application/${'x'.repeat(4000)}`,
      `text/plain; charset=${'x'.repeat(4000)}`,
    ]
    for (const type of types) {
      const answer = await send(target, { body: target.valid, headers: { 'content-type': type } })
      expectError(answer, { status: 415, code: 'unsupported_media_type', says: /application\/json/ }, type)
      expect(answer.text.length).toBeLessThan(2000)
    }
    const key = target.as === 'anon' ? {} : { 'x-api-key': await keyOf(target.as) }
    const payload = JSON.stringify(target.valid)
    const untyped = await sendBytes(
      directory.url,
      Buffer.from(
        `${target.method} ${target.path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${payload.length}\r\n${Object.entries(
          key,
        )
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\n${payload}`,
      ),
    )
    expectError(untyped, { status: 415, code: 'unsupported_media_type' }, 'no content type')
  })

  it('rejects a compressed body without reading it', async () => {
    const raw = Buffer.from([
      0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0,
    ])
    const answer = await send(target, { raw, headers: { 'content-encoding': 'gzip' } })
    expectError(answer, { status: 415, says: /gzip|encod/i }, 'gzip')
  })

  it('handles malformed headers', async () => {
    const odd = [
      { 'x-request-id': 'x'.repeat(8000) },
      { 'x-request-id': '"><script>alert(1)</script>' },
      { accept: 'x'.repeat(8000) },
      { accept: ';;;,,,;q=;q' },
      { prefer: 'handling=strict; ;;=' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer a b c' },
      { authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' },
      { authorization: `Bearer ${'x'.repeat(8000)}` },
      { authorization: 'Bearer eyJ.eyJ.' },
      { authorization: 'Bearer eyJhbGciOiJub25lIn0.bnVsbA.' },
      { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJpc3MiOnt9fQ.x' },
      { 'x-forwarded-for': 'x'.repeat(2000), 'x-forwarded-proto': 'gopher', 'x-forwarded-host': 'evil' },
      { range: 'bytes=-1-', 'if-modified-since': 'yesterday', 'if-none-match': '","' },
    ]
    for (const headers of odd) {
      const answer = await send(target, { raw: '{"name":', headers })
      expect([400, 401], JSON.stringify(headers)).toContain(answer.status)
      expectError(answer, { status: answer.status }, JSON.stringify(headers))
      expect(answer.json.correlation_id).toMatch(/^[\w.:-]{1,128}$/)
    }
  })
})

async function keyOf(who: TestCaller): Promise<string> {
  if (who === 'admin') return directory.adminKey
  keys[who] ??= await directory.makeKey({ subject: who, scopes: ['publish', 'discover', 'invoke'] })
  before = await contents()
  return keys[who] ?? ''
}
const keys: Partial<Record<TestCaller, string>> = {}

describe('ids and names', () => {
  const bad = {
    'a dot': '.',
    'two dots': '..',
    'a reserved word': 'search',
    'another reserved word': 'public',
    'a star': 'a*',
    'a NUL': 'a\u0000b',
    'a line break': 'a\nb',
    'a delete character': 'a\u007f',
    'a C1 control character': 'a\u0085',
    'no characters': '',
  }
  it.each(Object.entries(bad))('C-30 rejects an id that is or contains %s on every path', async (_what, id) => {
    const agent = encodeURIComponent(id)
    expectError(await directory.post('/agents', { as: 'tokA', body: aidipAgent({ id }) }), {
      status: 400,
      member: '/id',
    })
    expectError(await directory.post('/v0/agents', { as: 'tokA', body: aidipAgent({ id }) }), {
      status: 400,
      member: '/id',
    })
    const metadata = fixture('FX-D0', { id })
    expectError(await directory.post('/discover/agents', { as: 'tokA', body: metadata }), {
      status: 400,
      member: '/id',
    })
    const registration = fixture('FX-SUM')
    const named = await directory.post(`/ad/r?agent=${agent}`, { as: 'tokA', body: registration })
    expectError(named, { status: 400, member: '?agent' })
    const put = await sendRaw(directory.url, {
      method: 'PUT',
      target: `/agents/${id === '' ? '%20'.slice(3) : agent}`,
      headers: { 'x-api-key': directory.adminKey },
      body: JSON.stringify(aidipAgent()),
    })
    expect([404, 405], put.text).toContain(put.status)
  })

  it('C-30 rejects ids of more than 512 characters and AD names of more than 255', async () => {
    const body = aidipAgent({ id: 'ä'.repeat(513) })
    expectError(await directory.post('/agents', { as: 'tokA', body }), { status: 400, member: '/id', says: /512/ })
    const long = encodeURIComponent('ä'.repeat(256))
    const answer = await directory.post(`/ad/r?agent=${long}`, { as: 'tokA', body: fixture('FX-SUM') })
    expectError(answer, { status: 400, member: '?agent', says: /255/ })
  })

  it('rejects text that cannot be stored: NUL in subjects, tags and owners', async () => {
    const nul = 'a\u0000b'
    const cases = [
      { path: '/admin/keys', body: { subject: nul, scopes: ['publish'] }, member: '/subject' },
      { path: '/admin/grants', body: { subject: nul, tag: 'x', scopes: ['discover'] }, member: '/subject' },
      { path: '/admin/grants', body: { subject: 'x', tag: nul, scopes: ['discover'] }, member: '/tag' },
      { path: '/agents?owner=a%00b', body: aidipAgent({ id: 'never' }), member: '?owner' },
      { path: '/agents?owner=', body: aidipAgent({ id: 'never' }), member: '?owner' },
      { path: '/discover/agents?owner=%00', body: fixture('FX-D0', { id: 'never' }), member: '?owner' },
      { path: '/ad/r?agent=never&owner=%00', body: fixture('FX-SUM'), member: '?owner' },
    ]
    for (const { path, body, member } of cases) {
      expectError(await directory.post(path, { as: 'admin', body }), { status: 400, member }, path)
    }
    expectError(
      await directory.post('/admin/grants', { as: 'admin', body: { subject: 'x', agent: nul, scopes: ['discover'] } }),
      { status: 404 },
    )
    for (const path of ['/admin/keys/%00', '/admin/grants/%00', '/agents/%00']) {
      expectError(await directory.delete(path, { as: 'admin' }), { status: 404 }, path)
    }
    expect((await directory.get('/admin/audit?subject=%00', { as: 'admin' })).json).toEqual({ entries: [] })
  })

  it('rejects an out-of-range lifetime of a key', async () => {
    for (const expires_in of [0, -1, 1e15, 1e300]) {
      const answer = await directory.post('/admin/keys', {
        as: 'admin',
        body: { subject: 'x', scopes: ['publish'], expires_in },
      })
      expectError(answer, { status: 400, member: '/expires_in' }, String(expires_in))
    }
  })
})

describe('malformed paths and queries', () => {
  const PATHS = [
    '/agents/%zz',
    '/agents/%',
    '/agents/%f',
    '/agents/%ff',
    '/agents/%C0%80',
    '/agents/%ED%A0%80',
    '/agents/%00',
    '/agents/.',
    '/agents/..',
    '/agents/%2e%2e',
    '/agents/..%2f..%2fetc%2fpasswd',
    '/agents/here/..',
    '/agents//',
    '//agents',
    '/agents/here//agent.json',
    '/agents/%68%65%72%65%00',
    `/agents/${'x'.repeat(600)}`,
    `/agents/${'x'.repeat(9000)}`,
    `/agents/${'%F0%9F%98%80'.repeat(513)}`,
    '/agents/%2568ere',
    '/agents/here/nothing',
    '/agents/__proto__',
    '/agents/constructor',
    '/discover/agents/%zz',
    '/discover/agents/..',
    '/ad/r/0',
    '/ad/r/-1',
    '/ad/r/1e3',
    '/ad/r/1.0',
    '/ad/r/%31%00',
    '/ad/r/99999999999999999999999',
    '/ad/r/9007199254740993',
    '/ad/r/NaN',
    '/ad/r/__proto__',
    '/problems/__proto__',
    '/problems/constructor',
    '/.well-known/..%2fad',
    '/v0/agents/%zz',
    '/v9/agents',
    '/%',
    '/%00',
    '/\\..\\agents',
    '/agents;x=y',
    '/agents\u00ff',
    '*',
    'agents',
  ]

  it.each(PATHS.map((target) => [target.slice(0, 40), target]))(
    'GET %s returns a 4xx with an error body',
    async (_name, target) => {
      const answer = await sendRaw(directory.url, { target })
      expect([400, 404, 405, 414], answer.text).toContain(answer.status)
      expectError(answer, { status: answer.status })
    },
  )

  it.each(['PUT', 'DELETE', 'POST', 'PATCH'])('%s on any of them changes nothing', async (method) => {
    for (const target of PATHS) {
      const request: RawRequest = { method, target, headers: { 'x-api-key': directory.adminKey } }
      const body = method === 'DELETE' ? {} : { body: JSON.stringify(aidipAgent()) }
      const answer = await sendRaw(directory.url, { ...request, ...body })
      expect([400, 404, 405, 414], `${target} ${answer.text}`).toContain(answer.status)
      expectError(answer, { status: answer.status }, target)
    }
  })

  it('rejects invalid query parameters and names them', async () => {
    const cases = {
      '/agents?top=0': '?top',
      '/agents?top=-1': '?top',
      '/agents?top=1.5': '?top',
      '/agents?top=1e2': '?top',
      '/agents?top=ten': '?top',
      '/agents?top=': '?top',
      '/agents?top=99999999999999999999': '?top',
      '/agents?skip=-1': '?skip',
      '/agents?skip=x': '?skip',
      '/v0/agents?skip=x': '?skip',
      '/agents/public?skip=x': '?skip',
      '/agents?__proto__=x': '?__proto__',
      '/agents?__proto__[polluted]=1&__proto__=x': '?__proto__',
      '/ad/l?page=-1': '?page',
      '/ad/l?page=x': '?page',
      '/ad/l?count=0': '?count',
      '/ad/l?count=-5': '?count',
      '/ad/l?agent=a*b': '?agent',
      '/ad/l?agent=**': '?agent',
      '/ad/l?cap_name=*x': '?cap_name',
      '/admin/audit?limit=0': '?limit',
      '/admin/audit?limit=x': '?limit',
      '/admin/audit?since=yesterday': '?since',
    }
    for (const [path, member] of Object.entries(cases)) {
      expectError(await directory.get(path, { as: 'admin' }), { status: 400, member }, path)
    }
    for (const lt of ['', '0', '59', '60.5', '-60', 'x', '4294967296', '1e5']) {
      const path = `/ad/r?agent=never&lt=${lt}`
      expectError(
        await directory.post(path, { as: 'tokA', body: fixture('FX-SUM') }),
        { status: 400, member: '?lt' },
        path,
      )
      const refresh = `/ad/r/1?lt=${lt}`
      expectError(await directory.post(refresh, { as: 'tokA' }), { status: 400, member: '?lt' }, refresh)
    }
  })

  it('rejects a query that is not percent-encoded UTF-8', async () => {
    for (const query of ['agent=%zz', 'agent=%', 'agent=%ff', 'agent=%C0%80', 'agent=%ED%A0%80', '%ff=x']) {
      const headers = { 'x-api-key': directory.adminKey }
      const body = JSON.stringify(fixture('FX-SUM'))
      const answers = [
        await sendRaw(directory.url, { target: `/ad/l?${query}` }),
        await sendRaw(directory.url, { target: `/agents?${query}` }),
        await sendRaw(directory.url, { method: 'POST', target: `/ad/r?${query}`, headers, body }),
      ]
      for (const answer of answers) expectError(answer, { status: 400, says: /percent|UTF-8/ }, query)
    }
  })

  it('treats names of Object.prototype members in filters as ordinary names', async () => {
    for (const name of ['constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__']) {
      for (const value of ['x', ['x'], { x: 1 }, true, 1, {}]) {
        const answer = await directory.post('/agents/search', { body: { filters: { [name]: value } } })
        expect([answer.status, answer.json], `${name} ${JSON.stringify(value)}`).toEqual([200, []])
      }
      const listed = await directory.get(`/agents?${name}=x`)
      expect([listed.status, listed.json]).toEqual([200, []])
      const constraint = await directory.post('/discover', { body: { query: 'probe', constraints: { [name]: 'x' } } })
      expect([constraint.status, constraint.json.unsupported_filters]).toEqual([200, [name]])
    }
  })

  it('accepts long queries and returns 431 above the header limit', async () => {
    for (const path of ['/agents', '/ad/l', '/agents/public', '/.well-known/agents.json']) {
      const long = await sendRaw(directory.url, { target: `${path}?tag=${'x'.repeat(12_000)}` })
      expect(long.status, path).toBe(200)
      const huge = await sendRaw(directory.url, { target: `${path}?tag=${'x'.repeat(100_000)}` })
      expectError(huge, { status: 431, says: /too (long|large)/ }, path)
    }
    const header = await sendRaw(directory.url, { target: '/agents', headers: { 'x-long': 'x'.repeat(100_000) } })
    expectError(header, { status: 431 })
  })

  it('returns 400 and closes the connection if the request is not HTTP', async () => {
    for (const text of [
      'GARBAGE\r\n\r\n',
      'GET / HTTP/9.9\r\n\r\n',
      'GET /agents HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n',
      'POST /agents HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n',
      'POST /agents HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001',
    ]) {
      expectError(await sendBytes(directory.url, Buffer.from(text, 'latin1')), { status: 400 }, JSON.stringify(text))
    }
  })
})

describe('malformed headers', () => {
  const TAGS = [
    '"',
    '""',
    'W/',
    'garbage',
    ',,,,',
    '"1',
    '1-',
    '"99-1aidip01."',
    `"${'x'.repeat(4000)}"`,
    '"-1-"',
    '"1e0-"',
  ]

  it.each(TAGS.map((tag) => [tag.slice(0, 20), tag]))('If-Match %s matches nothing: 412', async (_name, tag) => {
    const headers = { 'if-match': tag }
    const body = aidipAgent({ id: 'here', description: 'changed' })
    expectError(await directory.put('/agents/here', { as: 'tokA', body, headers }), {
      status: 412,
      code: 'stale_metadata',
    })
    expectError(await directory.post('/agents', { as: 'tokA', body, headers }), { status: 412 })
    expectError(await directory.delete('/agents/here', { as: 'tokA', headers }), { status: 412 })
    expectError(await directory.delete('/ad/r/1', { as: 'tokA', headers }), { status: 412 })
  })

  it('ignores malformed Accept headers and validators', async () => {
    const odd = [
      'x',
      ';;;',
      ',,,',
      '*/*;q=abc',
      'application/json;q=-1',
      `text/${'x'.repeat(6000)}`,
      '/',
      '*',
      'a/b/c;q=0.5;q=1',
    ]
    for (const accept of odd) {
      for (const path of [
        '/agents',
        '/agents/here',
        '/v0/agents/here',
        '/discover/agents/here',
        '/ad/r/1',
        '/ad/l',
        '/discover',
      ]) {
        const answer = await directory.get(path, { headers: { accept } })
        expect(answer.status, `${path} ${accept}`).toBe(200)
      }
      for (const path of ['/agents/here/agent.json', '/agents/here/agent-card.json', '/.well-known/agent.json']) {
        const answer = await directory.get(path, { headers: { accept } })
        expect([200, 406], `${path} ${accept}`).toContain(answer.status)
      }
    }
    for (const headers of [
      { 'if-none-match': '"' },
      { 'if-none-match': ',,,' },
      { 'if-modified-since': 'never' },
      { range: 'bytes=9-1' },
    ]) {
      expect((await directory.get('/agents/here', { headers: { ...headers } })).status).toBe(200)
    }
  })
})

describe('POST /admin/import', () => {
  const importLines = async (raw: string | Uint8Array): Promise<JsonObject[]> => {
    const answer = await directory.post('/admin/import', { as: 'admin', raw })
    expect(answer.status).toBe(200)
    return answer.text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  }

  it('reports each invalid line with a reason and stores nothing', async () => {
    const agent = JSON.stringify(aidipAgent({ id: 'never' })).slice(1)
    const lines: [string, RegExp][] = [
      ['{', /not valid JSON/],
      ['[]', /must be a JSON object/],
      ['null', /must be a JSON object/],
      ['"text"', /must be a JSON object/],
      ['{}', /format/],
      [`{"name":1,${agent}`, /duplicate member/],
      [`{"__proto__":1,${agent}`, /__proto__/],
      [`{"extra":1e400,${agent}`, /too large for a double/],
      [`{"extra":"\\ud800",${agent}`, /surrogate/],
      [`{"extra":${'['.repeat(100)}${']'.repeat(100)},${agent}`, /nesting/],
      [`{"document":{${agent},"format":"fax"}`, /\/format must be one of/],
      [`{"document":{${agent},"id":"a*"}`, /\*/],
      [`{"document":{${agent},"id":"."}`, /reserved/],
      [`{"document":{${agent},"id":"a\\u0000"}`, /control character/],
      [`{"document":{${agent},"id":7}`, /\/id/],
      [`{"document":{${agent},"owner":7}`, /\/owner/],
      [`{"document":{${agent},"owner":""}`, /\/owner/],
      [`{"document":{${agent},"owner":"a\\u0000"}`, /\/owner/],
      [`{"document":7,"format":"aidip"}`, /\/document/],
      ['{"name":"x","capabilities":{},"skills":[],"url":"https://a.example/*","version":"1","description":""}', /\*/],
      ['{"name":"io.x/*","description":"","version":"1","remotes":[]}', /\*/],
      ['{"name":1,"description":"x","bindings":[]}', /\/name/],
      ['{"agent":"..","base":"https://a.example"}', /reserved/],
      ['{"base":"https://a.example"}', /agent/],
    ]
    const results = await importLines(lines.map(([line]) => line).join('\n'))
    expect(results).toHaveLength(lines.length)
    for (const [i, [line, reason]] of lines.entries()) {
      expect(results[i], line).toMatchObject({ line: i + 1, status: 'failed', code: 'invalid_request' })
      expect(results[i]?.message, line).toMatch(reason)
    }
  })

  it('rejects lines that are too long or not UTF-8, and continues', async () => {
    const broken = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff]), Buffer.from('"}\n')])
    const long = Buffer.from(`{"name":"${'x'.repeat(10_000_000)}"}\n`)
    const results = await importLines(Buffer.concat([broken, long, Buffer.from('{}\n\n'), long, broken]))
    expect(results.map(({ line, code }) => [line, code])).toEqual([
      [1, 'invalid_request'],
      [2, 'payload_too_large'],
      [3, 'invalid_request'],
      [5, 'payload_too_large'],
      [6, 'invalid_request'],
    ])
    expect(results[0]?.message).toMatch(/UTF-8/)
  })

  it('rejects an empty body', async () => {
    expectError(await directory.post('/admin/import', { as: 'admin' }), { status: 400, says: /empty/ })
  })
})

describe('AD-8.3-03 size limits of a registration', () => {
  const many = (n: number) => Array.from({ length: n }, (_, i) => ({ name: `c${i}`, type: 'tool' }))

  it('AD-8.3-03 returns 400 for more than 1000 capabilities', async () => {
    for (const n of [1001, 6001]) {
      const capabilities = n > 5000 ? Array(n).fill({ name: 'c', type: 't' }) : many(n)
      const answer = await directory.post('/ad/r?agent=never', {
        as: 'tokA',
        body: fixture('FX-SUM', { capabilities }),
      })
      expect(JSON.stringify({ capabilities }).length).toBeLessThan(262_144)
      expectError(answer, { status: 400, member: '/capabilities', says: /1000/ })
      const update = await directory.post('/ad/r/1', { as: 'tokA', body: { capabilities } })
      expectError(update, { status: 400, member: '/capabilities' })
    }
    const names = Array.from({ length: 1001 }, (_, i) => `c${i}`)
    const answer = await directory.post('/agents', { as: 'tokA', body: aidipAgent({ capabilities: names }) })
    expectError(answer, { status: 400, member: '/capabilities' })
  })

  it('AD-8.3-03 returns 413 for a document of more than 256 KiB, but not for exactly 256 KiB', async () => {
    const padded = (bytes: number, document: JsonObject): string => {
      const text = JSON.stringify({ ...document, pad: '' })
      return JSON.stringify({ ...document, pad: 'x'.repeat(bytes - text.length) })
    }
    const document = fixture('FX-SUM')
    const over = await directory.post('/ad/r?agent=never', { as: 'tokA', raw: padded(262_145, document) })
    expectError(over, { status: 413, code: 'payload_too_large' })
    // Too many tags, so that nothing is stored; this test is only about the size.
    const tags = Array(101).fill('x')
    const atLimit = await directory.post('/agents', { as: 'tokA', raw: padded(262_144, aidipAgent({ tags })) })
    expectError(atLimit, { status: 400, member: '/tags', says: /100/ })
  })

  it('C-76 rejects more than 100 tags and 200 examples', async () => {
    const tags = await directory.post('/discover/agents', {
      as: 'tokA',
      body: fixture('FX-D0', { id: 'never', tags: Array(101).fill('t') }),
    })
    expectError(tags, { status: 400, member: '/tags' })
    const examples = await directory.post('/discover/agents', {
      as: 'tokA',
      body: fixture('FX-D0', { id: 'never', examples: Array(201).fill({ text: 'x' }) }),
    })
    expectError(examples, { status: 400, member: '/examples' })
  })

  it('C-24 rejects a version that is a number and says how to write it', async () => {
    const raw = JSON.stringify(aidipAgent({ id: 'never' })).replace('{', '{"version":1.10,')
    expectError(await directory.post('/agents', { as: 'tokA', raw }), { status: 400, member: '/version' })
    const unquoted = raw.replace('1.10', '3.1.4')
    expectError(await directory.post('/agents', { as: 'tokA', raw: unquoted }), { status: 400, says: /quote it/ })
  })
})

describe('fuzz', () => {
  let fuzzed: TestDirectory
  let last: TestResponse | undefined
  beforeAll(async () => {
    fuzzed = await startDirectory()
    await fuzzed.post('/agents', { as: 'tokA', body: aidipAgent({ id: 'here' }) })
  })
  afterAll(() => fuzzed.close())

  /** Paths that return the agent in every draft's format. */
  const READERS = [
    (id: string) => `/agents/${id}`,
    (id: string) => `/v0/agents/${id}`,
    (id: string) => `/discover/agents/${id}`,
    (id: string) => `/agents/${id}/agent.json`,
    (id: string) => `/agents/${id}/agent-card.json`,
    (id: string) => `/agents/${id}/agent-card.json?version=0.3`,
    (id: string) => `/agents/${id}/server.json`,
    (id: string) => `/ad/l?agent=${id}`,
    () => '/agents?include_metadata=true',
    () => '/ad/l',
    () => '/.well-known/agents.json',
  ]

  const expectNoServerError = async (
    method: 'get' | 'post' | 'put' | 'patch' | 'delete',
    path: string,
    options: RequestOptions,
  ): Promise<TestResponse> => {
    const answer = await fuzzed[method](path, options)
    expect(
      answer.status,
      `${method} ${path} ${JSON.stringify(options.body)} → ${answer.text.slice(0, 300)}`,
    ).toBeLessThan(500)
    last = answer
    return answer
  }

  it.each(TARGETS)('any JSON sent to $name returns a status below 500', async ({ method, path, as }) => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        await expectNoServerError(METHOD[method], path, { as, body: toJson(value) })
      }),
      { numRuns: 25 },
    )
  })

  const documents = TARGETS.filter(({ valid, members }) => 'name' in valid || 'base' in valid || '/query' in members)

  it.each(documents)(
    '$name with some members replaced by any JSON returns a status below 500, and what was stored can be read',
    async (target) => {
      const names = [...new Set(Object.keys(target.members).map((pointer) => pointer.slice(1)))]
      const change = fc.tuple(
        fc.constantFrom(...names, 'extra', 'skills', 'remotes', 'packages', 'transport', 'provider'),
        anything,
      )
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
          let body = target.valid
          for (const [pointer, value] of changes) body = withMember(body, `/${pointer}`, toJson(value))
          const { status, json } = await expectNoServerError(METHOD[target.method], target.path, {
            as: target.as,
            body,
          })
          if (status !== 201) return
          const id = encodeURIComponent(String(json?.id ?? 'never'))
          for (const reader of READERS) await expectNoServerError('get', reader(id), { as: 'anon' })
          expect((await fuzzed.delete(`/agents/${id}`, { as: 'tokA' })).status).toBe(204)
        }),
        { numRuns: 40 },
      )
      expect(last).toBeDefined()
    },
  )

  it('any query string returns a status below 500', async () => {
    const paths = ['/agents', '/v0/agents', '/agents/public', '/ad/l', '/agents/here/agent-card.json', '/admin/audit']
    const names = [
      'top',
      'skip',
      'q',
      'tags',
      'id',
      'status',
      'language',
      'agent',
      'cap_name',
      'page',
      'count',
      'since',
      'shape',
      'x',
    ]
    const query = fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names), fc.string()), fc.string({ unit: 'binary' })), {
      maxLength: 4,
    })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), query, async (path, pairs) => {
        await expectNoServerError('get', `${path}?${new URLSearchParams(pairs)}`, { as: 'admin' })
      }),
      { numRuns: 150 },
    )
  })

  it('any path returns a status below 500', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('/agents/', '/ad/r/', '/discover/agents/', '/'),
        fc.string({ unit: 'binary' }),
        async (base, text) => {
          const target = `${base}${encodeURIComponent(text.toWellFormed())}`
          for (const method of ['GET', 'DELETE']) {
            const answer = await sendRaw(fuzzed.url, { method, target, headers: { 'x-api-key': fuzzed.adminKey } })
            expect(answer.status, `${method} ${target} ${answer.text.slice(0, 200)}`).toBeLessThan(500)
          }
        },
      ),
      { numRuns: 60 },
    )
    expect((await fuzzed.get('/health/ready')).status).toBe(200)
  })

  /** Values that are closer to valid ones than random JSON. */
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '',
      ' ',
      '\u0000',
      '*',
      'constructor',
      '9999-12-31T23:59:60Z',
      '0000-01-01T00:00:00Z',
      '2026-02-30T00:00:00Z',
      'https://',
      'https://[::1',
      'agent://x',
      'javascript:alert(1)',
      Number.MAX_VALUE,
      -0,
    ),
    fc.array(
      fc.dictionary(
        fc.constantFrom('name', 'type', 'text', 'url', 'id', 'protocol', 'endpoint', 'private'),
        fc.oneof(fc.string(), fc.boolean(), fc.integer()),
      ),
      { maxLength: 3 },
    ),
  )

  const toJson = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value))
})
