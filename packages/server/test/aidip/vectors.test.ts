import { readFileSync } from 'node:fs'
import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startDirectory, type TestCaller, type TestDirectory, type TestResponse } from '../support/directory.js'
import { fixture } from '../support/documents.js'
import { registerAll, search } from './requests.js'

// The vectors of both revisions for registration, search and retrieval. The gateway's tests run those for calls.

interface Step {
  as?: TestCaller
  post?: string
  fixture?: string
  body?: JsonObject
  patch?: JsonObject
}

interface HttpVector {
  id: string
  draft: string
  kind: string
  input: { setup: Step[]; as: TestCaller; request: { method: string; path: string; body?: JsonValue } }
  expect: { status: number; headers?: JsonObject; body?: JsonValue }
}

interface FilterVector {
  id: string
  kind: string
  input: { agents: JsonObject[]; filters: JsonObject; top?: number; skip?: number }
  expect: { ids: string[] }
}

const vectors: (HttpVector | FilterVector)[] = JSON.parse(
  readFileSync(new URL('../../../../spec/vectors.json', import.meta.url), 'utf8'),
)
const isFilter = (vector: HttpVector | FilterVector): vector is FilterVector => vector.kind === 'aidip.filter'
const isRegistry = (vector: HttpVector | FilterVector): vector is HttpVector =>
  vector.kind === 'http' &&
  'draft' in vector &&
  'request' in vector.input &&
  vector.draft.startsWith('AIDIP') &&
  /^\/(v0\/)?agents(\?|$|\/[^/]+$)/.test(vector.input.request.path) &&
  vector.input.setup.every((step) => 'post' in step && !('repeat' in step))

let directory: TestDirectory
beforeAll(async () => {
  directory = await startDirectory()
})
afterAll(() => directory.close())
beforeEach(() => directory.clear())

describe('http vectors', () => {
  const of = (draft: string) => vectors.filter(isRegistry).filter((vector) => vector.draft === draft)

  it.each(of('AIDIP00'))('AIDIP-8-01 revision 00 stays valid: $id', (vector) => run(vector))
  it.each(of('AIDIP'))('$id', (vector) => run(vector))

  it('are complete', () => {
    expect([of('AIDIP').length, of('AIDIP00').length]).toEqual([16, 4])
  })
})

describe('filter vectors', () => {
  it.each(vectors.filter(isFilter))('$id', async ({ input, expect: { ids } }) => {
    await registerAll(directory, input.agents)
    const { filters, top, skip } = input
    const body = { filters, ...(top !== undefined && { top }), ...(skip !== undefined && { skip }) }
    expect(await search(directory, body)).toEqual(ids)
  })
})

async function run({ input, expect: expected }: HttpVector): Promise<void> {
  for (const { as = 'tokA', post = '', fixture: id, body, patch } of input.setup) {
    const document = id === undefined ? { ...body, ...patch } : fixture(id, patch)
    expect((await directory.post(post, { as, body: document })).status).toBe(201)
  }
  const { method, path, body } = input.request
  const content = isObject(body) ? toContent(body) : body === undefined ? {} : { body }
  const send = { GET: directory.get, POST: directory.post, PUT: directory.put }[method]
  const answer: TestResponse | undefined = await send?.(path, { as: input.as, ...content })
  expect(answer?.status).toBe(expected.status)
  if (expected.body !== undefined) matches(answer?.json, expected.body, 'body')
  for (const name of Object.keys(expected.headers ?? {})) expect(answer?.headers.has(name)).toBe(true)
}

function toContent(body: JsonObject): { raw: string } | { body: JsonObject } {
  if (typeof body.$raw === 'string') return { raw: body.$raw }
  return { body: typeof body.$fixture === 'string' ? fixture(body.$fixture) : body }
}

/** The matchers of spec/vectors.md that these vectors use; members that are not named are ignored. */
function matches(value: unknown, wanted: JsonValue, at: string): void {
  if (Array.isArray(wanted)) {
    expect(value, at).toHaveLength(wanted.length)
    for (const [i, item] of wanted.entries()) matches((value as unknown[])[i], item, `${at}/${i}`)
  } else if (!isObject(wanted)) expect(value, at).toEqual(wanted)
  else if (typeof wanted.$type === 'string') expect(typeof value, at).toBe(wanted.$type)
  else if (typeof wanted.$match === 'string') expect(value, at).toMatch(new RegExp(wanted.$match))
  else if (typeof wanted.$length === 'number') expect(value, at).toHaveLength(wanted.$length)
  else if (wanted.$absent === true) expect(value, at).toBeUndefined()
  else if (Array.isArray(wanted.$array)) matches(value, wanted.$array, at)
  else {
    expect(Object.keys(wanted).join(), at).not.toContain('$')
    for (const [name, inner] of Object.entries(wanted)) matches((value as JsonObject)[name], inner, `${at}/${name}`)
  }
}
