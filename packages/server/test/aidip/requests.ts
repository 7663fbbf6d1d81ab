import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { expect } from 'vitest'
import type { RequestOptions, TestCaller, TestDirectory, TestResponse } from '../support/directory.js'

/** Registers a document that must be accepted; returns the response. */
export async function register(
  directory: TestDirectory,
  document: JsonObject,
  as: TestCaller = 'tokA',
): Promise<TestResponse> {
  const answer = await directory.post('/agents', { as, body: document })
  expect(answer.status, answer.text).toBe(201)
  return answer
}

/** Registers many documents at once, as the administrator. */
export async function registerAll(directory: TestDirectory, documents: readonly JsonObject[]): Promise<void> {
  const raw = documents.map((document) => JSON.stringify(document)).join('\n')
  const headers = { 'content-type': 'application/x-ndjson' }
  const { text } = await directory.post('/admin/import', { as: 'admin', raw, headers })
  expect(text.match(/"status":"created"/g)).toHaveLength(documents.length)
}

/** Ids in a response of either shape, in its order. */
export function idsOf({ json }: TestResponse): string[] {
  const items: { id: string }[] = Array.isArray(json) ? json : (json.results ?? json.agents)
  return items.map(({ id }) => id)
}

/** Ids found by POST /agents/search. */
export async function search(
  directory: TestDirectory,
  body: JsonValue,
  options: RequestOptions = {},
): Promise<string[]> {
  const answer = await directory.post('/agents/search', { ...options, body })
  expect(answer.status, answer.text).toBe(200)
  return idsOf(answer)
}

/** Ids listed by GET /agents; `query` is the query string without the question mark. */
export async function list(directory: TestDirectory, query = '', options: RequestOptions = {}): Promise<string[]> {
  const answer = await directory.get(`/agents?${query}`, options)
  expect(answer.status, answer.text).toBe(200)
  return idsOf(answer)
}

/** The document without the members that the registry adds. */
export function withoutRegistryMembers({ json }: TestResponse): JsonObject {
  const { verification: _, ...document } = json
  return document
}

/** The target of `Link: <…>; rel="next"`. */
export function nextOf({ headers }: TestResponse): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
}
