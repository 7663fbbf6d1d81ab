import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { closeAll, count, echo, makeAgent, startAgent, until } from './support/agents.js'

afterEach(closeAll)

describe('hostile input', () => {
  it('never causes an internal error, whatever the path, headers and body', async () => {
    const errors: unknown[] = []
    const agent = makeAgent({
      capabilities: [echo, count],
      onError: (error) => errors.push(error),
      rateLimit: { calls: 1e6, seconds: 1 },
    })
    const word = fc.oneof(
      fc.constantFrom(
        'echo',
        'invoke',
        'v1',
        'v2.1.0',
        'tasks',
        'a2a',
        'mcp',
        '.well-known',
        'agent.json',
        '..',
        '%zz',
        '%2F',
        '__proto__',
      ),
      fc.webSegment(),
    )
    const header = fc.constantFrom(
      'accept',
      'x-session-id',
      'x-task-id',
      'x-agent-version',
      'prefer',
      'x-callback-url',
      'x-delegation-chain',
      'idempotency-key',
      'authorization',
      'x-api-key',
      'x-request-id',
      'content-type',
    )
    const value = fc.oneof(
      fc.constantFrom('respond-async', 'text/event-stream', 'application/json', 'Bearer x', 'https://[::1]/'),
      fc.stringMatching(/^[ -~]{0,40}$/),
    )
    const body = fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom(
        '{"text":"a"}',
        '{"operation":"count","to":2,"stream":true}',
        '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":null}}',
        '[[[[',
        '{"__proto__":1}',
      ),
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { maxLength: 4 }),
        fc.constantFrom('GET', 'POST', 'DELETE', 'PUT', 'HEAD', 'OPTIONS'),
        fc.dictionary(header, value, { maxKeys: 4 }),
        body,
        async (path, method, headers, text) => {
          const url = new URL('http://localhost/')
          url.pathname = path.join('/')
          const hasBody = method !== 'GET' && method !== 'HEAD'
          const request = new Request(url, {
            method,
            headers: { 'content-type': 'application/json', ...headers },
            ...(hasBody && { body: text }),
          })
          const response = await agent.fetch(request)
          await response.text()
          expect(response.status).toBeLessThan(500)
          expect(response.headers.get('x-request-id')).not.toBe('')
        },
      ),
      { numRuns: 500 },
    )
    expect(errors).toEqual([])
  })

  it('over a WebSocket gets a reply or closes it, and the agent keeps running', async () => {
    const errors: unknown[] = []
    const { url } = await startAgent({ onError: (error) => errors.push(error), maxBodyBytes: 10_000 })
    const frames = fc.sample(
      fc.oneof(
        fc.json(),
        fc.string(),
        fc
          .record({ id: fc.oneof(fc.string(), fc.integer()), input: fc.jsonValue(), operation: fc.jsonValue() })
          .map((frame) => JSON.stringify(frame)),
        fc
          .record({ id: fc.constant('1'), cancel: fc.boolean(), sessionId: fc.jsonValue(), version: fc.jsonValue() })
          .map((frame) => JSON.stringify(frame)),
        fc.constant('x'.repeat(20_000)),
      ),
      60,
    )
    for (const frame of frames) {
      const socket = new WebSocket(url.replace('http', 'ws'))
      let isAnswered = false
      const settle = (): void => {
        isAnswered = true
      }
      socket.on('message', settle).on('close', settle).on('error', settle)
      await new Promise((resolve) => socket.once('open', resolve))
      socket.send(`${frame}\n`)
      // Empty lines, and cancellations of unknown calls, get no reply.
      const needsNone = frame.trim() === '' || /"cancel":true/.test(frame)
      if (!needsNone) {
        await until(
          () => isAnswered,
          (isDone) => isDone,
        )
        expect(isAnswered).toBe(true)
      }
      socket.terminate()
    }
    expect(errors).toEqual([])
    expect((await fetch(`${url}/health`)).status).toBe(200)
  })
})
