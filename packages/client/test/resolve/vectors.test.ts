import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { type Vector, vectors } from '../../../protocol/test/fixtures.js'
import { ClientError, didWebUrl, parseAgentsJson, resolveAgent } from '../../src/index.js'

const ofKind = (kind: string): Vector[] => vectors.filter((vector) => vector.kind === kind)

const objectOf = (value: JsonValue | undefined): JsonObject => (isObject(value) ? value : {})

/** A fetch that serves the given documents, and the requests sent through it. */
function worldOf(world: JsonObject): { fetch: typeof fetch; requests: string[] } {
  const requests: string[] = []
  return {
    requests,
    async fetch(input) {
      const url = String(input)
      requests.push(url)
      const found = Object.hasOwn(world, url)
      return Response.json(found ? world[url] : { status: 404 }, { status: found ? 200 : 404 })
    },
  }
}

const codeOf = (error: unknown): string | undefined => (error instanceof ClientError ? error.code : undefined)

describe('uri.resolve', () => {
  it.each(ofKind('uri.resolve'))('$id', async ({ input, expect: expected }) => {
    const { uri, world } = objectOf(input)
    const { fetch, requests } = worldOf(objectOf(world))
    const { error, ...members } = objectOf(expected.result)
    const result = await resolveAgent(String(uri), { fetch }).catch((thrown: unknown) => thrown)
    expect(requests).toEqual(expected.requests)
    if (error !== undefined) expect(codeOf(result)).toBe(error)
    else expect(result).toMatchObject(members)
  })
})

describe('did.web.url', () => {
  it.each(ofKind('did.web.url'))('$id', async ({ input, expect: expected }) => {
    const did = String(input)
    if (expected.url !== undefined) {
      expect(didWebUrl(did)).toBe(expected.url)
      return
    }
    const { fetch, requests } = worldOf({})
    const result = await resolveAgent(`agent://${did}/x`, { fetch }).catch((thrown: unknown) => thrown)
    expect(codeOf(result)).toBe(expected.error)
    expect(requests).toEqual([])
  })
})

describe('agentsjson.parse', () => {
  const index = 'https://example.com/.well-known/agents.json'

  it.each(ofKind('agentsjson.parse'))('AURI-5.1-02 $id', ({ input, expect: expected }) => {
    const { base = index, ...document } = objectOf(input)
    const read = (): JsonObject =>
      Object.fromEntries([...parseAgentsJson(document, String(base))].map(([name, { url }]) => [name, url ?? null]))
    if (expected.valid) expect(read()).toEqual(expected.agents)
    else expect(read).toThrow(/\/agents must be an object/)
  })
})

describe('metadata.validate of descriptors', () => {
  const descriptors = ofKind('metadata.validate').filter(({ input }) => objectOf(input).profile === 'descriptor')

  it.each(descriptors)('$id is accepted, with a warning for each error (C-25)', async ({ input, expect: expected }) => {
    const url = 'https://planner.example.com/.well-known/agent.json'
    const { document = null } = objectOf(input)
    const { fetch } = worldOf({ [url]: document })
    const { descriptor, warnings } = await resolveAgent('agent://planner.example.com/', { fetch })
    expect(descriptor).toEqual(document)
    const places = Array.isArray(expected.errors) ? expected.errors : []
    for (const place of places) expect(warnings.join('\n')).toContain(`${place} `)
    expect(places.length === 0).toBe(expected.valid)
    if (expected.valid) expect(warnings).toEqual([])
  })
})
