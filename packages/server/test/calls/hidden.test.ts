import { once } from 'node:events'
import type { JsonObject } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { setUp } from '../invoke/setup.js'
import type { RequestOptions, TestResponse } from '../support/directory.js'
import { expectError } from '../support/errors.js'

const setup = setUp()
const { register, call } = setup

/** A response without its varying parts and without the requested name. */
function withoutNames({ status, headers, text }: TestResponse, id: string) {
  const stableHeaders = [...headers].filter(
    ([name]) => !['date', 'x-request-id', 'content-length', 'x-directory-revision'].includes(name),
  )
  return { status, headers: stableHeaders, text: text.replaceAll(id, 'ID').replace(/"correlation_id":"[^"]*"/, '') }
}

describe('an agent that is hidden from the caller', () => {
  const requests: [string, string, RequestOptions][] = [
    ['a call', '/invoke', { body: { text: 'a' } }],
    ['a call with invalid input', '/invoke', { body: { text: 5 } }],
    ['a call without a body', '/invoke', {}],
    ['a call of an operation', '/secret', { body: {} }],
    ['a call of a version', '/versions/9.9/invoke', { body: {} }],
    ['a batch', '/invoke', { body: Array.from({ length: 101 }, () => ({})) }],
    ['a stream', '/invoke', { body: {}, headers: { accept: 'text/event-stream' } }],
    ['a call that is not acceptable', '/invoke', { body: {}, headers: { accept: 'image/png' } }],
    [
      'a deferred call',
      '/invoke',
      { body: {}, headers: { prefer: 'respond-async', 'x-callback-url': 'https://10.0.0.1/' } },
    ],
    ['a call with a key', '/invoke', { body: {}, headers: { 'idempotency-key': 'k' } }],
    ['a form', '/invoke', { raw: '--b--', headers: { 'content-type': 'multipart/form-data; boundary=b' } }],
    ['feedback', '/feedback', { body: { rating: 1 } }],
    ['invalid feedback', '/feedback', { body: { rating: 9 } }],
  ]

  it.each(requests)('AIDIP-9-05 C-70 responds to %s as if it did not exist', async (_, path, options) => {
    await register({ id: 'hidden', visibility: 'private' })
    const answer = async (id: string) =>
      withoutNames(await setup.directory.post(`/agents/${id}${path}`, { as: 'tokC', ...options }), id)
    expect(await answer('hidden')).toEqual(await answer('nobody'))
    expect(setup.agent.calls).toEqual([])
  })

  it('C-70 responds to a WebSocket as if it did not exist', async () => {
    await register({ id: 'hidden', visibility: 'private' })
    const key = await setup.directory.makeKey({ subject: 'stranger', scopes: ['invoke'] })
    const answer = async (id: string, line: JsonObject) => {
      const url = `${setup.directory.url.replace('http', 'ws')}/agents/${id}/invoke`
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}` } })
      await once(socket, 'open')
      socket.send(JSON.stringify(line))
      const [data] = await once(socket, 'message')
      socket.close()
      return String(data).replaceAll(id, 'ID')
    }
    for (const line of [{ text: 'a' }, { id: '1', input: { text: 'a' } }]) {
      expect(await answer('hidden', line)).toBe(await answer('nobody', line))
    }
  })
})

describe('an agent that the caller may see but not call', () => {
  it('cannot be rated by the caller', async () => {
    await register({ visibility: 'restricted' })
    const rate = () => setup.directory.post('/agents/x/feedback', { as: 'tokC', body: { rating: 1 } })
    expectError(await rate(), { status: 403, says: 'no grant' })
    const grant = { subject: 'tokC', agent: 'x', scopes: ['invoke'] }
    await setup.directory.post('/admin/grants', { as: 'admin', body: grant })
    expect((await rate()).status).toBe(201)
  })
})

describe('an agent whose operations are all hidden from the caller', () => {
  it('PROF-7.4-02 has none that can be called by guessing its name', async () => {
    const secret = { name: 'secret', inputs: { type: 'object' }, outputs: { type: 'object' }, private: true }
    const { inputs: _inputs, outputs: _outputs, ...document } = setup.agent.document({ operations: [secret] })
    expect((await setup.directory.post('/agents', { as: 'tokA', body: document })).status).toBe(201)
    for (const body of [{ operation: 'secret' }, {}]) expectError(await call(body), { status: 404 })
    expectError(await call({}, { path: '/agents/x/secret' }), { status: 404 })
    expect(setup.agent.calls).toEqual([])
    expect((await call({ operation: 'secret' }, { as: 'tokA' })).status).toBe(200)
  })
})
