import type { JsonObject } from '@switchboard/protocol'
import { expect } from 'vitest'
import type { RequestOptions, TestCaller, TestDirectory, TestResponse } from '../support/directory.js'

/** The ids of FX-HR and FX-D0, encoded for a path. */
export const HR = encodeURIComponent('https://agents.example.net/id/hr-core-automator')
export const MINIMAL = encodeURIComponent('https://example.net/agents/minimal')

/** A small valid profile document. */
export function profileAgent(changes: JsonObject = {}): JsonObject {
  return {
    id: 'probe',
    name: 'Probe',
    description: 'An agent made for a test, with nothing else to say.',
    tags: ['probe'],
    bindings: [{ protocol: 'https', endpoint: 'https://agents.example.net/probe' }],
    ...changes,
  }
}

/** Registers a new agent that must be accepted. */
export async function publish(
  directory: TestDirectory,
  body: JsonObject,
  as: TestCaller = 'tokA',
): Promise<TestResponse> {
  const answer = await directory.post('/discover/agents', { as, body })
  expect(answer.status, answer.text).toBe(201)
  return answer
}

/** The body of a discovery response. */
export async function discover(
  directory: TestDirectory,
  body: JsonObject,
  options: RequestOptions = {},
): Promise<TestResponse['json']> {
  const { status, json, text } = await directory.post('/discover', { ...options, body })
  expect(status, text).toBe(200)
  return json
}

/** Ids of the candidates, best first. */
export async function candidates(
  directory: TestDirectory,
  body: JsonObject,
  options: RequestOptions = {},
): Promise<string[]> {
  return (await discover(directory, body, options)).candidates.map(({ id }: { id: string }) => id)
}
