import type { JsonObject } from '@switchboard/protocol'
import { expect } from 'vitest'
import type { TestCaller, TestDirectory } from '../support/directory.js'

/** Registers a new agent in the Agent Directory and returns the path of its resource. */
export async function register(
  directory: TestDirectory,
  name: string,
  body: JsonObject,
  { as = 'tokA', lt }: { as?: TestCaller; lt?: number } = {},
): Promise<string> {
  const lifetime = lt === undefined ? '' : `&lt=${lt}`
  const { status, headers, text } = await directory.post(`/ad/r?agent=${encodeURIComponent(name)}${lifetime}`, {
    as,
    body,
  })
  expect(status, text).toBe(201)
  return headers.get('location') ?? ''
}

/** Names of the agents that a lookup returns, in the order of the response. */
export async function lookUp(directory: TestDirectory, query = '', as: TestCaller = 'anon'): Promise<string[]> {
  const { status, json, text } = await directory.get(`/ad/l${query}`, { as })
  expect(status, text).toBe(200)
  return json.agents.map(({ agent }: { agent: string }) => agent)
}
