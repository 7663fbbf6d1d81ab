import { describe, expect, it } from 'vitest'
import { setUp } from './setup.js'

describe('JSON that does not change', () => {
  const setup = setUp()
  const headers = { 'content-type': 'application/json' }
  const post = (text: string) =>
    setup.directory.post('/agents/x/invoke', { as: 'tokC', raw: new TextEncoder().encode(text), headers })
  const respond = (text: string): void => {
    setup.agent.reply = (_, response) => response.writeHead(200, headers).end(text)
  }
  const text = '{ "id": 12345678901234567890,\n  "é": 1.0 }'

  it('reaches the agent and the caller as it was written', async () => {
    await setup.register({ inputs: { type: 'object' }, outputs: { type: 'object' } })
    respond(text)
    expect((await post(text)).text).toBe(text)
    expect(setup.agent.calls[0]?.body.toString()).toBe(text)
  })

  it('is passed on without a byte order mark', async () => {
    await setup.register({ inputs: { type: 'object' }, outputs: { type: 'object' } })
    respond(`\ufeff${text}`)
    expect((await post(`\ufeff${text}`)).text).toBe(text)
    expect(setup.agent.calls[0]?.body.toString()).toBe(text)
  })

  it('is written again if a member was meant for the directory', async () => {
    await setup.register({ inputs: { type: 'object' }, outputs: { type: 'object' } })
    respond('{}')
    await post('{ "a": 1, "sessionId": "s1" }')
    expect(setup.agent.calls[0]?.body.toString()).toBe('{"a":1}')
  })
})
