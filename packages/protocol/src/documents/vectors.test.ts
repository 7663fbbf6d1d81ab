import { describe, expect, it } from 'vitest'
import { fixture, type Vector, vectors } from '../../test/fixtures.js'
import { DirectoryError } from '../errors.js'
import { asString, asStrings, isObject, type JsonObject, type JsonValue, parseJson } from '../json.js'
import { createPublisherSchemas } from '../schema/publisher-schema.js'
import { isSimpleMap, toJsonSchema } from '../schema/simple-map.js'
import { readAuthentication } from './authentication.js'
import { lintDescriptor } from './lint-descriptor.js'
import { parseAgentName, parseDiscoveryRequest, validateDocument } from './parse.js'
import { readRecord } from './read.js'
import type { DocumentFormat } from './record.js'

const ofKind = (kind: string): Vector[] => vectors.filter((vector) => vector.kind === kind)

const inputOf = ({ input }: Vector): JsonObject => (isObject(input) ? input : {})

/** Locations of the issues that a parser throws. */
function refusals(parse: () => unknown): string[] {
  try {
    parse()
    return []
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error
    return error.issues.map(({ at }) => at)
  }
}

describe('metadata.validate', () => {
  const formats: Record<string, DocumentFormat> = {
    aidip: 'aidip',
    prof: 'profile',
    ad: 'directory',
    descriptor: 'descriptor',
  }
  /** AURI's minimum is only advice to publishers here, because readers do not need it (C-25). */
  const minimum = (document: JsonValue): string[] =>
    isObject(document)
      ? lintDescriptor(document)
          .warnings.map(({ at }) => at)
          .filter((at) => /^\/(name|version|capabilities)$/.test(at))
      : []

  it.each(ofKind('metadata.validate'))('$id', (vector) => {
    const { profile, document = null, query } = inputOf(vector)
    const format = formats[asString(profile) ?? '']
    if (format === undefined) throw new Error(`no such profile: ${profile}`)
    const found = [
      ...validateDocument(format, document).map(({ at }) => at),
      ...(isObject(query) ? refusals(() => parseAgentName(asString(query.agent))) : []),
      ...(format === 'descriptor' ? minimum(document) : []),
    ]
    // The lifetime depends on the server's policy.
    const expected = asStrings(vector.expect.errors).filter((at) => at !== '?lt')
    expect([...new Set(found)].sort()).toEqual(expected.sort())
  })
})

describe('prof.request.validate', () => {
  it.each(ofKind('prof.request.validate'))('$id', (vector) => {
    expect(refusals(() => parseDiscoveryRequest(vector.input))).toEqual(vector.expect.errors)
  })
})

describe('json.parse', () => {
  it.each(ofKind('json.parse'))('$id', (vector) => {
    expect(() => parseJson(asString(inputOf(vector).text) ?? '')).toThrow(/quote it/)
  })
})

describe('io.classify', () => {
  it.each(ofKind('io.classify'))('$id', (vector) => {
    const description = inputOf(vector)
    expect(isSimpleMap(description)).toBe(vector.expect.kind === 'map')
    expect(toJsonSchema(description)).toEqual(vector.expect.schema ?? description)
  })
})

describe('auth.canonical', () => {
  it.each(ofKind('auth.canonical'))('$id', (vector) => {
    expect(readAuthentication(vector.input)?.type).toBe(vector.expect.type)
  })
})

describe('input.validate', () => {
  it.each(ofKind('input.validate'))('AIDIP-3.3-02 $id', (vector) => {
    const { fixture: id, input = null } = inputOf(vector)
    const [operation] = readRecord('aidip', fixture(asString(id) ?? ''), 'a').operations
    const issues = createPublisherSchemas().check(operation?.inputs ?? {}, input)
    expect(issues.length === 0).toBe(vector.expect.valid)
  })
})
