import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JSON_BODY_VECTORS } from '../../protocol/test-vectors/call/json-body.js'
import { JSON_TYPE_VECTORS } from '../../protocol/test-vectors/call/media-types.js'
import { type Computer, type RawAnswer, sendRaw, startComputer } from './support/computer.js'

let computer: Computer

beforeAll(async () => {
  computer = await startComputer()
})
afterAll(() => computer.close())

/** Registers an agent with that body, which names neither a socket nor a URL. */
const register = (body: Uint8Array, contentType = 'application/json'): Promise<RawAnswer> =>
  sendRaw('http://localhost/agents/notes', {
    method: 'PUT',
    socketPath: computer.socket,
    headers: ['host', 'localhost', 'content-type', contentType, 'content-length', String(body.byteLength)],
    body,
  })

/** The refusal of a body that was read. */
const WAS_READ = expect.stringContaining('/socket')

describe('a body', () => {
  it.each(JSON_BODY_VECTORS)('is read strictly: $title', async ({ bytes, value }) => {
    const { status, json } = await register(bytes)
    const refusal = expect.stringMatching(/^the body is not valid (UTF-8|JSON)/)
    expect([status, json.detail]).toEqual([400, value === undefined ? refusal : WAS_READ])
  })

  it.each(JSON_TYPE_VECTORS)('of type %s is JSON: %s', async (contentType, isJson) => {
    const { status, json } = await register(new TextEncoder().encode('{}'), contentType)
    if (isJson) expect([status, json.detail]).toEqual([400, WAS_READ])
    else expect(status).toBe(415)
  })
})
