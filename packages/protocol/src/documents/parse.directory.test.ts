import { describe, expect, it } from 'vitest'
import { fixture } from '../../test/fixtures.js'
import type { JsonValue } from '../json.js'
import { parseAgentName, parseDirectoryUpdate, validateDocument } from './parse.js'

/** Locations of the issues in the sample of AD §4.1 after changing some members. */
const problems = (changes: Record<string, JsonValue | undefined>): string[] =>
  validateDocument('directory', fixture('FX-SUM', changes)).map(({ at }) => at)

const capabilities = (...items: JsonValue[]) => ({ capabilities: items })

describe('a registration in the Agent Directory', () => {
  it('AD-4.1-01 is a JSON object such as the one in the draft', () => {
    expect(validateDocument('directory', fixture('FX-SUM'))).toEqual([])
    expect(validateDocument('directory', [])).toEqual([{ at: '', message: 'must be an object' }])
  })

  it('AD-4.1-03 needs the name in the query', () => {
    expect(parseAgentName('summarizer-v2')).toBe('summarizer-v2')
    expect(parseAgentName('翻译')).toBe('翻译')
    expect(() => parseAgentName(undefined)).toThrow('?agent is required')
    expect(() => parseAgentName('')).toThrow('?agent is empty')
  })

  it('AD-4.1-06 limits the length of the name', () => {
    expect(() => parseAgentName('a'.repeat(256))).toThrow('?agent is longer than 255 characters')
  })

  it('AD-4.1-10 requires a base that is a URI', () => {
    for (const base of [undefined, 5, 'not a uri', '/path', '', 'https://'])
      expect(problems({ base })).toEqual(['/base'])
    for (const base of ['https://a.example/x', 'grpc://a.example:50051', 'urn:agent:x'])
      expect(problems({ base })).toEqual([])
  })

  it('AD-4.1-11 accepts a description that is a string', () => {
    expect(problems({ description: undefined })).toEqual([])
    expect(problems({ description: 5 })).toEqual(['/description'])
  })

  it('AD-4.1-13 accepts an array of any names as protocols', () => {
    expect(problems({ protocols: 'mcp' })).toEqual(['/protocols'])
    expect(problems({ protocols: ['agtp', 'mcp', 'a2a', 'grpc'] })).toEqual([])
  })

  it('AD-4.1-14 accepts a version after the name of a protocol', () => {
    expect(problems({ protocols: ['mcp/1.0'] })).toEqual([])
  })

  it('AD-4.1-15 accepts capabilities as objects', () => {
    expect(problems(capabilities('x'))).toEqual(['/capabilities/0'])
    expect(problems({ capabilities: {} })).toEqual(['/capabilities'])
    expect(problems({ capabilities: undefined })).toEqual([])
  })

  it('AD-4.1-16 requires each capability to have a name and a type that are strings', () => {
    expect(problems(capabilities({ name: 'a' }))).toEqual(['/capabilities/0/type'])
    expect(problems(capabilities({ type: 'tool' }))).toEqual(['/capabilities/0/name'])
    expect(problems(capabilities({ name: 5, type: 'tool' }))).toEqual(['/capabilities/0/name'])
    expect(problems(capabilities({ name: 'a', type: 5 }))).toEqual(['/capabilities/0/type'])
  })

  it('AD-4.1-17 checks description, tags and schemas of a capability', () => {
    const right = {
      name: 'a',
      type: 'tool',
      description: 'b',
      tags: ['c'],
      input_schema: {},
      output_schema: { type: 'object' },
    }
    expect(problems(capabilities(right))).toEqual([])
    for (const name of ['description', 'tags', 'input_schema', 'output_schema']) {
      expect(problems(capabilities({ ...right, [name]: 5 }))).toEqual([`/capabilities/0/${name}`])
    }
    expect(problems(capabilities({ ...right, tags: 'a' }))).toEqual(['/capabilities/0/tags'])
  })

  it('AD-4.1-18 rejects a schema that is not valid', () => {
    expect(problems(capabilities({ name: 'a', type: 'tool', input_schema: { type: 'objekt' } }))).toEqual([
      '/capabilities/0/input_schema/type',
    ])
  })

  it('AD-4.1-19 rejects two capabilities with the same name', () => {
    expect(
      problems(capabilities({ name: 'a', type: 'tool' }, { name: 'b', type: 'tool' }, { name: 'a', type: 'skill' })),
    ).toEqual(['/capabilities/2/name'])
  })

  it('AD-4.1-20 accepts version and vendor as strings', () => {
    expect(problems({ version: 2 })).toEqual(['/version'])
    expect(problems({ vendor: 5 })).toEqual(['/vendor'])
  })

  it('AD-4.1-21, AD-4.1-22 accepts any identity, and does not interpret it', () => {
    expect(problems({ identity: 'https://nowhere.invalid/', identity_type: 'zzz' })).toEqual([])
    expect(problems({ identity: 5, identity_type: 5 })).toEqual(['/identity', '/identity_type'])
  })

  it.each(['tool', 'skill', 'resource', 'prompt'])('AD-4.1.1-01 accepts the type %s', (type) => {
    expect(problems(capabilities({ name: 'a', type }))).toEqual([])
  })

  it('AD-4.1.1-02 accepts other types', () => {
    expect(problems(capabilities({ name: 'a', type: 'workflow' }))).toEqual([])
  })

  it('AD-5.1-04, AD-5.1-05 rejects a * in the name of the agent or of a capability', () => {
    for (const name of ['a*', '*', 'x*y']) {
      expect(() => parseAgentName(name)).toThrow('?agent contains "*"')
      expect(problems(capabilities({ name, type: 'tool' }))).toEqual(['/capabilities/0/name'])
    }
  })

  it('accepts capabilities named like paths of this directory', () => {
    expect(problems(capabilities({ name: 'search', type: 'tool' }, { name: 'public', type: 'tool' }))).toEqual([])
  })
})

describe('an update in the Agent Directory', () => {
  it('may have any of the members, with or without base (C-37)', () => {
    expect(parseDirectoryUpdate({})).toEqual({})
    expect(parseDirectoryUpdate({ capabilities: [] })).toEqual({ capabilities: [] })
  })

  it.each([
    [{ base: 'not a uri' }, '/base'],
    [capabilities({ name: 'a', type: 't' }, { name: 'a', type: 't' }), '/capabilities/1/name'],
    [
      capabilities({ name: 'a', type: 't', input_schema: { $ref: 'https://evil.example/' } }),
      '/capabilities/0/input_schema/$ref',
    ],
    [[], 'the document must be an object'],
  ])('is validated like a registration: %j', (update, at) => {
    expect(() => parseDirectoryUpdate(update)).toThrow(at)
  })
})
