import { HOSTILE_VALUES, pickValue, withMember } from './hostile-json.mjs'
import { createRandom, seedOf } from './random.mjs'
import { agentId, CALLABLE, document, HOSTILE_IDS, SCHEMA_IDS, wordsOf } from './world.mjs'

/**
 * @typedef {object} HostileRequest
 * @property {number} n
 * @property {string} kind what is hostile about it
 * @property {string} method
 * @property {string} path
 * @property {string} caller "anonymous", "admin" or the name of a key
 * @property {Record<string, string>} headers
 * @property {string | Buffer | undefined} body
 * @property {'plain' | 'slow reader' | 'slow writer' | 'leaves early' | 'socket'} manner
 */

const FILTERS = ['version', 'authentication', 'capabilities', 'tags', 'languages', 'protocols', 'publisher', 'unknown']
const LISTS = ['/agents', '/v1/agents', '/v0/agents', '/agents/public', '/ad/l', '/.well-known/agents.json']

/** Creates requests for the operations of an OpenAPI document. */
export function createGenerator({ operations, agents, seed, callers }) {
  const makers = [
    [30, anyOperation],
    [8, longList],
    [6, hugeFilter],
    [5, manyParameters],
    [6, longQuery],
    [8, hostileDocument],
    [6, hostileSearch],
    [8, hostileInput],
    [5, call],
    [3, batch],
    [3, stream],
    [3, oddHeaders],
    [2, slowSchema],
    [1, bulkImport],
    [2, form],
    [2, socket],
    [1.5, slowReader],
    [1.5, slowWriter],
    [2, leavesEarly],
  ]

  const anyAgent = (random) =>
    random.weighted([
      [6, () => agentId(random.below(agents))],
      [2, () => random.pick(CALLABLE)],
      [2, () => hostileId(random)],
      [1, () => wordsOf(random, 1)],
      [1, () => '__proto__'],
      [1, () => 'x'.repeat(3000)],
      [1, () => '%00\u{1f600}/../..'],
    ])
  const hostileId = (random) => random.pick(HOSTILE_IDS)
  const value = (random) => HOSTILE_VALUES[pickValue(random)]

  /** Any operation, with plausible or hostile parameters and body. */
  function anyOperation(random) {
    const { method, path, query, hasBody } = random.pick(operations)
    // Only the agents of this test are deleted or replaced, so that the directory stays full.
    const changes = method !== 'GET' && method !== 'POST'
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) =>
      encodeURIComponent(
        name === 'id'
          ? changes
            ? hostileId(random)
            : anyAgent(random)
          : random.pick(['1', 'x', 'invoke', '-1', '1.0.0']),
      ),
    )
    const parameters = query
      .filter(() => random.chance(0.4))
      .map((name) => `${name}=${encodeURIComponent(parameterValue(random))}`)
    return {
      kind: 'any operation',
      method,
      path: `${filled}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`,
      body: hasBody ? anyBody(random) : undefined,
      caller: path.startsWith('/admin') && random.chance(0.5) ? 'admin' : undefined,
    }
  }
  const parameterValue = (random) =>
    random.weighted([
      [4, () => String(random.below(100))],
      [3, () => wordsOf(random, 3)],
      [1, () => '-1'],
      [1, () => '9'.repeat(30)],
      [1, () => wordsOf(random, 200)],
      [1, () => '\u0000%'],
    ])
  const anyBody = (random) =>
    random.weighted([
      [4, () => JSON.stringify(document(random, hostileId(random)))],
      [2, () => JSON.stringify({ query: wordsOf(random, 5), text: wordsOf(random, 5), subject: 'x', scopes: [] })],
      [2, () => value(random)],
      [
        1,
        () =>
          withMember(
            document(random, hostileId(random)),
            random.pick(['tags', 'description', 'inputs']),
            value(random),
          ),
      ],
    ])

  function longList(random) {
    const path = random.pick(LISTS)
    const query = random.pick([
      '',
      '?top=100',
      '?top=100&skip=19000',
      '?top=1',
      '?count=1000&page=0',
      '?top=1000000000',
    ])
    return { kind: `list ${path}`, method: 'GET', path: path + query }
  }

  function hugeFilter(random) {
    const filters = Object.fromEntries(
      random.times(1 + random.below(4), () => [
        random.pick(FILTERS),
        random.times(1 + random.below(300), () => wordsOf(random, 1)),
      ]),
    )
    const body = random.chance(0.5)
      ? withMember({}, 'filters', withMember(filters, random.pick(FILTERS), value(random)))
      : withMember(
          {},
          'filters',
          withMember({}, random.pick(FILTERS), HOSTILE_VALUES['25,000 values, 50 different ones']),
        )
    const path = random.pick(['/agents/search', '/v0/agents/search', '/discover'])
    return { kind: 'huge filter', method: 'POST', path, body }
  }

  function manyParameters(random) {
    const name = random.pick(['tags', 'capabilities', 'authentication', 'cap_name', 'tag', 'x'])
    const parameters = random.times(random.pick([100, 300, 700]), () => `${name}=${random.below(1000)}`)
    return { kind: 'many parameters', method: 'GET', path: `${random.pick(LISTS)}?${parameters.join('&')}` }
  }

  function longQuery(random) {
    const text = random.pick([() => wordsOf(random, 2000), () => wordsOf(random, 20_000), () => 'x'.repeat(200_000)])()
    const [path, member] = random.pick([
      ['/agents/search', 'query'],
      ['/discover', 'query'],
      ['/resolve', 'intent'],
    ])
    return { kind: 'long query', method: 'POST', path, body: JSON.stringify({ [member]: text, top: 100 }) }
  }

  function hostileDocument(random) {
    const name = pickValue(random)
    const member = random.pick([
      'tags',
      'capabilities',
      'description',
      'inputs',
      'outputs',
      'examples',
      'endpoint',
      'x',
    ])
    const body = withMember(document(random, hostileId(random)), member, HOSTILE_VALUES[name])
    const path = random.pick(['/agents', '/v0/agents', '/discover/agents', '/ad/r?agent=hostile-1'])
    return { kind: `document with ${name}`, method: 'POST', path, body, caller: 'publisher' }
  }

  function hostileSearch(random) {
    const name = pickValue(random)
    const [path, member] = random.pick([
      ['/agents/search', 'query'],
      ['/agents/search', 'top'],
      ['/discover', 'tags'],
      ['/resolve', 'policy'],
    ])
    return { kind: `search with ${name}`, method: 'POST', path, body: withMember({}, member, HOSTILE_VALUES[name]) }
  }

  function hostileInput(random) {
    const name = pickValue(random)
    const path = `/agents/${random.pick(CALLABLE)}/invoke`
    return {
      kind: `input with ${name}`,
      method: 'POST',
      path,
      body: withMember({}, 'text', HOSTILE_VALUES[name]),
      caller: 'caller',
    }
  }

  function call(random) {
    const agent = random.pick(CALLABLE)
    const headers = random.pick([
      {},
      { prefer: 'respond-async' },
      { 'idempotency-key': `key-${random.below(50)}` },
      { prefer: 'respond-async', 'x-callback-url': 'http://127.0.0.1:1/callback' },
    ])
    return {
      kind: `call of ${agent}`,
      method: 'POST',
      path: `/agents/${agent}/invoke`,
      body: '{"text":"a"}',
      headers,
      caller: 'caller',
    }
  }

  function batch(random) {
    const inputs = random.times(random.pick([10, 10, 10, 100, 1000, 20_000]), () => ({ text: 'a' }))
    return {
      kind: 'batch',
      method: 'POST',
      path: `/agents/${random.pick(CALLABLE)}/invoke`,
      body: JSON.stringify(inputs),
      caller: 'caller',
    }
  }

  function stream(random) {
    const headers = { accept: random.pick(['text/event-stream', 'application/x-ndjson']) }
    const path = `/agents/${random.pick(['call-stream', 'call-flood', 'call-echo'])}/invoke`
    return { kind: 'stream', method: 'POST', path, headers, body: '{"stream":true}', caller: 'caller' }
  }

  function oddHeaders(random) {
    const headers = random.pick([
      { accept: random.times(800, (i) => `a/b${i};q=0.${i}`).join(',') },
      { 'if-none-match': random.times(800, (i) => `"${i}"`).join(',') },
      { 'accept-language': random.times(800, (i) => `x${i};q=0.1`).join(',') },
      { 'x-delegation-chain': 'eyJ.e30.x,'.repeat(800) },
      { authorization: `Bearer eyJ${'a'.repeat(8000)}.eyJ${'b'.repeat(3000)}.c` },
      { 'if-modified-since': 'x'.repeat(8000) },
      { prefer: 'respond-async;'.repeat(500) },
      { 'content-type': `multipart/form-data; boundary=${'-'.repeat(5000)}` },
    ])
    const path = random.pick([...LISTS, `/agents/${anyAgentPath(random)}`])
    return { kind: 'odd headers', method: 'GET', path, headers }
  }
  const anyAgentPath = (random) => encodeURIComponent(anyAgent(random))

  /** A schema of the publisher that is expensive to check, and an input for it. */
  function slowSchema(random) {
    const id = random.pick(SCHEMA_IDS)
    if (random.chance(0.5))
      return {
        kind: 'slow schema: input',
        method: 'POST',
        path: `/agents/${id}/invoke`,
        body: JSON.stringify({ text: `${'a'.repeat(5000)}!` }),
        caller: 'caller',
      }
    const nested = random.times(200, (i) => ({ type: 'object', properties: { [`p${i}`]: { type: 'string' } } }))
    const inputs = random.pick([
      { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } },
      { type: 'object', anyOf: nested, allOf: nested, oneOf: nested },
      { $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' },
      { type: 'object', properties: { text: { type: 'string', pattern: '(.*a){25}x' } } },
    ])
    return {
      kind: 'slow schema: document',
      method: 'POST',
      path: '/agents',
      body: JSON.stringify(document(random, id, { inputs })),
      caller: 'publisher',
    }
  }

  function bulkImport(random) {
    const lines = random.times(random.pick([10, 200]), () =>
      random.chance(0.7) ? JSON.stringify(document(random, hostileId(random))) : String(value(random)).slice(0, 20_000),
    )
    return {
      kind: 'bulk import',
      method: 'POST',
      path: '/admin/import',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
      caller: 'admin',
    }
  }

  function form(random) {
    const part = (i) => `--b\r\ncontent-disposition: form-data; name="m${i}"\r\n\r\n${i}\r\n`
    const body = `${random.times(random.pick([10, 2000, 20_000]), part).join('')}--b--\r\n`
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    return {
      kind: 'form',
      method: 'POST',
      path: `/agents/${random.pick(CALLABLE)}/invoke`,
      headers,
      body,
      caller: 'caller',
    }
  }

  function socket(random) {
    const body = random.chance(0.5) ? '{"id":"1","input":{"text":"a"}}' : value(random)
    return {
      kind: 'socket',
      method: 'GET',
      path: `/agents/${random.pick(CALLABLE)}/invoke`,
      body,
      caller: 'caller',
      manner: 'socket',
    }
  }

  function slowReader(random) {
    const path = random.pick(['/.well-known/agents.json', '/agents?top=100', '/openapi.json', '/ad/l?count=100'])
    return { kind: 'slow reader', method: 'GET', path, manner: 'slow reader' }
  }

  function slowWriter(random) {
    return {
      kind: 'slow writer',
      method: 'POST',
      path: random.pick(['/agents/search', '/agents', '/agents/call-echo/invoke']),
      body: `{"query":"${'x'.repeat(4000)}"}`,
      caller: 'caller',
      manner: 'slow writer',
    }
  }

  function leavesEarly(random) {
    const request = random.pick([longList, stream, hostileInput, batch])(random)
    return { ...request, kind: 'leaves early', manner: 'leaves early' }
  }

  /** @returns {HostileRequest} request `n`, always the same for one seed */
  return (n) => {
    const random = createRandom(seedOf(seed, n))
    const {
      kind,
      method,
      path,
      headers = {},
      body,
      caller,
      manner = 'plain',
    } = random.weighted(makers.map(([weight, make]) => [weight, () => make(random)]))
    return { n, kind, method, path, headers, body, caller: caller ?? random.pick(callers), manner }
  }
}

/** The operations of an OpenAPI document. */
export function operationsOf({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      query: parameters.filter((each) => each.in === 'query').map(({ name }) => name),
      hasBody: requestBody !== undefined || path === '/admin/import',
    })),
  )
}
