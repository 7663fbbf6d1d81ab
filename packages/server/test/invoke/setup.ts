import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import type { Settings } from '../../src/config/settings.js'
import { type RequestOptions, startDirectory, type TestDirectory, type TestResponse } from '../support/directory.js'
import { echo, startAgent, type TestAgent } from './agent.js'

/** A directory and an agent for the tests of a file; both are reset after each test. */
export interface Setup {
  readonly directory: TestDirectory
  readonly agent: TestAgent
  /** Registers the agent, by default as `x`. */
  register(changes?: JsonObject): Promise<void>
  /** Calls it as an ordinary client. */
  call(body: JsonValue, options?: RequestOptions & { path?: string }): Promise<TestResponse>
}

export function setUp(settings: Settings = {}): Setup {
  let directory: TestDirectory
  let agent: TestAgent
  beforeAll(async () => {
    directory = await startDirectory(settings)
    agent = await startAgent()
  })
  afterEach(async () => {
    await directory.clear()
    agent.calls.length = 0
    agent.reply = echo
  })
  afterAll(async () => {
    await directory.close()
    await agent.close()
  })
  return {
    get directory() {
      return directory
    },
    get agent() {
      return agent
    },
    async register(changes) {
      const answer = await directory.post('/agents', { as: 'tokA', body: agent.document(changes) })
      expect(answer.status, answer.text).toBe(201)
    },
    call: (body, { path = '/agents/x/invoke', ...options } = {}) =>
      directory.post(path, { as: 'tokC', body, ...options }),
  }
}
