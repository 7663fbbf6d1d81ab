import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ACCEPTED_TASK_VECTORS } from '../../protocol/test-vectors/call/accepted-task.js'
import { JSON_BODY_VECTORS } from '../../protocol/test-vectors/call/json-body.js'
import { JSON_TYPE_VECTORS } from '../../protocol/test-vectors/call/media-types.js'
import { type Computer, type RawResponse, sendRaw, startAgent, startComputer } from './support/computer.js'

let computer: Computer

beforeAll(async () => {
  computer = await startComputer()
})
afterAll(() => computer.close())

/** Registers an agent with a body that has neither a socket nor a URL. */
const register = (body: Uint8Array, contentType = 'application/json'): Promise<RawResponse> =>
  sendRaw('http://localhost/agents/notes', {
    method: 'PUT',
    socketPath: computer.socket,
    headers: ['host', 'localhost', 'content-type', contentType, 'content-length', String(body.byteLength)],
    body,
  })

/** The error for a body that was parsed and then rejected. */
const WAS_PARSED = expect.stringContaining('/socket')

describe('a request body', () => {
  it.each(JSON_BODY_VECTORS)('is parsed strictly: $title', async ({ bytes, value }) => {
    const { status, json } = await register(bytes)
    const parseError = expect.stringMatching(/^the body is not valid (UTF-8|JSON)/)
    expect([status, json.detail]).toEqual([400, value === undefined ? parseError : WAS_PARSED])
  })

  it.each(JSON_TYPE_VECTORS)('of type %s is JSON: %s', async (contentType, isJson) => {
    const { status, json } = await register(new TextEncoder().encode('{}'), contentType)
    if (isJson) expect([status, json.detail]).toEqual([400, WAS_PARSED])
    else expect(status).toBe(415)
  })
})

describe('a deferred response', () => {
  // The runtime forwards the body unread, so only the headers name the task.
  const vectors = ACCEPTED_TASK_VECTORS.filter(({ body }) => body === null)

  it.each(vectors)('AURI-8-02 gets a Location below the agent: $title', async ({ headers, task }) => {
    const agent = await startAgent((_, response) => void response.writeHead(202, headers).end())
    try {
      const descriptor = { name: 'Later', version: '1.0.0', capabilities: [{ name: 'go' }] }
      await computer.client.register('later', { url: agent.url, descriptor })
      const { status, headers: received } = await sendRaw('http://localhost/agents/later/go', {
        socketPath: computer.socket,
        headers: ['host', 'localhost', 'content-type', 'application/json', 'content-length', '2'],
        body: '{}',
      })
      const location = task && `/agents/later/tasks/${encodeURIComponent(task.id)}`
      expect([status, received.location]).toEqual([202, location])
    } finally {
      await agent.close()
    }
  })
})
