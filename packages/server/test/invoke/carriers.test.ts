import { describe, expect, it } from 'vitest'
import { expectError } from '../support/errors.js'
import { fixed } from './agent.js'
import { setUp } from './setup.js'

const setup = setUp()
const { register, call } = setup
const INPUT = { text: 'hello' }
const VERSIONS = {
  version: '3.1.4',
  supportedVersions: { '3.0.0': '/v3/', '2.1.2': '/olderversion/v2.1.2/', '1.0': '/version-1/' },
}

describe('the version', () => {
  it.each([
    ['a header', { headers: { 'x-agent-version': '3.0.0' } }],
    ['the query', { path: '/agents/x/invoke?version=3.0.0' }],
    ['the path', { path: '/agents/x/versions/3.0.0/invoke' }],
    ['the path, with the operation', { path: '/agents/x/versions/3.0.0/go' }],
    ['all of them', { path: '/agents/x/versions/3.0/invoke?version=3.0.0', headers: { 'x-agent-version': '3.0.0' } }],
  ])('AURI-7-20 AURI-7-05 is chosen by %s', async (_, ask) => {
    await register({ ...VERSIONS, operations: [{ name: 'go', inputs: {}, outputs: {} }] })
    const { status, headers } = await call(INPUT, ask)
    expect([status, headers.get('x-agent-version')]).toEqual([200, '3.0.0'])
    expect(setup.agent.calls[0]).toMatchObject({ path: '/v3/', headers: { 'x-agent-version': '3.0.0' } })
  })

  it('AURI-7-21 is the latest if none is requested', async () => {
    await register(VERSIONS)
    const { headers } = await call(INPUT)
    expect(headers.get('x-agent-version')).toBe('3.1.4')
    await call(INPUT, { headers: { 'x-agent-version': '3.1.4' } })
    expect(setup.agent.calls.map(({ path }) => path)).toEqual(['/agent', '/agent'])
  })

  it('C-63 does not use the endpoints of operations unless it is the latest', async () => {
    const operation = { inputs: {}, outputs: {} }
    const own = new URL('/own', setup.agent.url).href
    await register({
      ...VERSIONS,
      operations: [
        { name: 'a', endpoint: own, ...operation },
        { name: 'b', ...operation },
      ],
    })
    await call(INPUT, { path: '/agents/x/a' })
    await call(INPUT, { path: '/agents/x/versions/3.0.0/a' })
    expect(setup.agent.calls.map(({ path, json }) => [path, json])).toEqual([
      ['/own', INPUT],
      ['/v3/', { ...INPUT, operation: 'a' }],
    ])
  })

  it('C-24 may be abbreviated', async () => {
    await register(VERSIONS)
    await call(INPUT, { headers: { 'x-agent-version': '1.0.0' } })
    expect(setup.agent.calls[0]?.path).toBe('/version-1/')
  })

  it('C-63 that the agent does not have gets 404, with a list of those it has', async () => {
    await register(VERSIONS)
    await register({ id: 'y' })
    expectError(await call(INPUT, { headers: { 'x-agent-version': '9.9.9' } }), {
      status: 404,
      says: /3\.1\.4, 3\.0\.0/,
    })
    expectError(await call(INPUT, { path: '/agents/y/invoke?version=1.0.0' }), { status: 404 })
    expect(setup.agent.calls).toEqual([])
  })

  it('C-63 must be the same in all places', async () => {
    await register(VERSIONS)
    const ask = { path: '/agents/x/invoke?version=2.1.2', headers: { 'x-agent-version': '3.0.0' } }
    expectError(await call(INPUT, ask), { status: 400, member: 'version', says: /3\.0\.0.*2\.1\.2/ })
    expectError(await call(INPUT, { path: '/agents/x/versions/3.0.0/invoke?version=2.1.2' }), { status: 400 })
    expect(setup.agent.calls).toEqual([])
  })

  it('C-63 is in the headers of error responses too, once it is known', async () => {
    await register({ ...VERSIONS, operations: [{ name: 'go', inputs: { text: 'string' }, outputs: {} }] })
    await register({ id: 'y', ...VERSIONS, authentication: { type: 'api_key' } })
    const versionOf = async (...[input, ask]: Parameters<typeof call>): Promise<unknown[]> => {
      const { status, headers } = await call(input, ask)
      return [status, headers.get('x-agent-version')]
    }
    expect(await versionOf(INPUT, { path: '/agents/y/invoke' })).toEqual([401, '3.1.4'])
    expect(await versionOf({ text: 1 })).toEqual([400, '3.1.4'])
    expect(await versionOf({ text: 1 }, { headers: { 'x-agent-version': '3.0.0' } })).toEqual([400, '3.0.0'])
    setup.agent.reply = fixed(null, 500)
    expect(await versionOf(INPUT)).toEqual([500, '3.1.4'])
    const replayed = { headers: { 'idempotency-key': 'k-1' } }
    for (const _ of ['sent', 'replayed']) expect(await versionOf(INPUT, replayed)).toEqual([500, '3.1.4'])
    expect(await versionOf(INPUT, { headers: { 'x-agent-version': '9.9.9' } })).toEqual([404, null])
  })
})

describe('session and task', () => {
  it.each([
    ['headers', { headers: { 'x-session-id': 's1', 'x-task-id': 't1' } }, {}],
    ['the query', { path: '/agents/x/invoke?sessionId=s1&taskId=t1' }, {}],
    ['the body', {}, { sessionId: 's1', taskId: 't1' }],
    [
      'all of them',
      { path: '/agents/x/invoke?sessionId=s1', headers: { 'x-session-id': 's1' } },
      { sessionId: 's1', taskId: 't1' },
    ],
  ])('AURI-8.1-01 AURI-8.1-05 AURI-8.1.1-01 are forwarded as headers when given by %s', async (_, ask, more) => {
    await register()
    expect((await call({ ...INPUT, ...more }, ask)).status).toBe(200)
    expect(setup.agent.calls[0]).toMatchObject({ headers: { 'x-session-id': 's1', 'x-task-id': 't1' }, json: INPUT })
  })

  it('C-63 must be the same in all places', async () => {
    await register()
    const headers = { 'x-session-id': 's1' }
    expectError(await call({ ...INPUT, sessionId: 's2' }, { headers }), { status: 400, member: 'sessionId' })
    expectError(await call(INPUT, { headers, path: '/agents/x/invoke?sessionId=s2' }), {
      status: 400,
      member: 'sessionId',
    })
    expectError(await call({ ...INPUT, taskId: 7 }), { status: 400, member: '/taskId' })
    expectError(await call({ ...INPUT, taskId: 'a\nb' }), { status: 400, member: 'taskId' })
    expect(setup.agent.calls).toEqual([])
  })

  it('C-89 belong to the agent if its input has members of these names', async () => {
    await register({ inputs: { sessionId: 'string', text: 'string' } })
    await call({ ...INPUT, sessionId: 'mine' }, { headers: { 'x-session-id': 's1' } })
    expect(setup.agent.calls[0]).toMatchObject({ headers: { 'x-session-id': 's1' }, json: { sessionId: 'mine' } })
  })

  it('AURI-8.1-02 allow an agent to keep state', async () => {
    await register()
    const seen = new Map<string, number>()
    setup.agent.reply = ({ headers }, response) => {
      const session = String(headers['x-session-id'])
      seen.set(session, (seen.get(session) ?? 0) + 1)
      fixed({ text: `${seen.get(session)}` })({} as never, response, {} as never)
    }
    const in1 = { headers: { 'x-session-id': 's1' } }
    await call(INPUT, in1)
    expect((await call(INPUT, in1)).json.text).toBe('2')
    expect((await call(INPUT, { headers: { 'x-session-id': 's2' } })).json.text).toBe('1')
  })
})

describe('a delegation chain', () => {
  const hop = (iss: string, aud: string): string => {
    const claims = { iss, sub: 'user', aud, jti: `${iss}-${aud}`, iat: 1, exp: 2 }
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    return `${part({ alg: 'EdDSA', typ: 'delegation+jwt' })}.${part(claims)}.c2ln`
  }

  it('AURI-8-07 AURI-8.3.2-02 AURI-10-10 is forwarded to the agent, with the task', async () => {
    await register()
    const headers = { 'x-delegation-chain': `${hop('a', 'b')},${hop('b', 'c')}`, 'x-task-id': 't1' }
    expect((await call(INPUT, { headers })).status).toBe(200)
    expect(setup.agent.calls[0]?.headers).toMatchObject(headers)
  })

  it('AURI-10-11 C-65 is rejected if it is too long, circular or malformed', async () => {
    await register()
    const long = Array.from({ length: 11 }, (_, i) => hop(`a${i}`, `a${i + 1}`)).join(',')
    for (const chain of [long, `${hop('a', 'b')},${hop('b', 'a')}`, 'nonsense', `${hop('a', 'b')},${hop('x', 'c')}`])
      expectError(await call(INPUT, { headers: { 'x-delegation-chain': chain } }), { status: 403 }, chain.slice(0, 20))
    expect(setup.agent.calls).toEqual([])
  })
})
