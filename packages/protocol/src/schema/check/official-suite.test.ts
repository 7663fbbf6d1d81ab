import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../json.js'
import { checkPublisherSchema, createPublisherSchemas } from '../publisher-schema.js'

const SUITE = new URL('../../../test-data/json-schema-test-suite/', import.meta.url)
const DRAFTS = { draft7: 'http://json-schema.org/draft-07/schema#', 'draft2020-12': undefined }

interface Group {
  description: string
  schema: JsonObject | boolean
  tests: { description: string; data: JsonValue; valid: boolean }[]
}

/** Known deviation: the checker rejects the groups' schemas, or gets cases wrong (`invalid`: all invalid ones). */
type Exception =
  | { reason: string; file: string; refused: RegExp; groups: string[] | 'all' }
  | { reason: string; file: string; misjudged: 'invalid' | string[]; groups: string[] | 'all' }

const REMOTE = { reason: 'remote schemas are never fetched', refused: /nothing is fetched/ }
const META = { reason: 'the meta-schemas cannot be referred to', refused: /nothing is fetched/ }
const DYNAMIC = { reason: '$dynamicRef is not supported', refused: /use \$ref/ }
const IDN = {
  reason: 'idn-hostname is an annotation: checking it needs the tables of IDNA',
  misjudged: 'invalid',
  groups: 'all',
} as const

const EXCEPTIONS: Exception[] = [
  { ...REMOTE, file: 'draft7/refRemote.json', groups: 'all' },
  {
    ...REMOTE,
    file: 'draft7/optional/cross-draft.json',
    groups: ['refs to future drafts are processed as future drafts'],
  },
  { ...META, file: 'draft7/definitions.json', groups: 'all' },
  { ...META, file: 'draft7/ref.json', groups: ['remote ref, containing refs itself'] },
  {
    reason: 'contentMediaType and contentEncoding are annotations, as 2020-12 has it',
    file: 'draft7/optional/content.json',
    misjudged: 'invalid',
    groups: 'all',
  },
  { ...IDN, file: 'draft7/optional/format/idn-hostname.json' },

  { ...REMOTE, file: 'draft2020-12/refRemote.json', groups: 'all' },
  {
    ...REMOTE,
    file: 'draft2020-12/optional/cross-draft.json',
    groups: ['refs to historic drafts are processed as historic drafts'],
  },
  {
    ...REMOTE,
    file: 'draft2020-12/dynamicRef.json',
    groups: [
      'strict-tree schema, guards against misspelled properties',
      'tests for implementation dynamic anchor and reference link',
      '$ref and $dynamicAnchor are independent of order - $defs first',
      '$ref and $dynamicAnchor are independent of order - $ref first',
    ],
  },
  { ...META, file: 'draft2020-12/anchor.json', groups: ['invalid anchors'] },
  { ...META, file: 'draft2020-12/defs.json', groups: 'all' },
  {
    ...META,
    file: 'draft2020-12/id.json',
    groups: [
      'Invalid use of fragments in location-independent $id',
      'Valid use of empty fragments in location-independent $id',
      'Unnormalized $ids are allowed but discouraged',
    ],
  },
  {
    ...META,
    file: 'draft2020-12/ref.json',
    groups: ['remote ref, containing refs itself', 'URN base URI with f-component'],
  },
  {
    ...META,
    file: 'draft2020-12/optional/ecmascript-regex.json',
    groups: ['\\a is not an ECMA 262 control escape'],
  },
  {
    ...DYNAMIC,
    file: 'draft2020-12/dynamicRef.json',
    groups: [
      'A $dynamicRef to a $dynamicAnchor in the same schema resource behaves like a normal $ref to an $anchor',
      'A $dynamicRef to an $anchor in the same schema resource behaves like a normal $ref to an $anchor',
      'A $dynamicRef resolves to the first $dynamicAnchor still in scope that is encountered when the schema is evaluated',
      'A $dynamicRef without anchor in fragment behaves identical to $ref',
      "A $dynamicRef with intermediate scopes that don't include a matching $dynamicAnchor does not affect dynamic scope resolution",
      'An $anchor with the same name as a $dynamicAnchor is not used for dynamic scope resolution',
      'A $dynamicRef without a matching $dynamicAnchor in the same schema resource behaves like a normal $ref to $anchor',
      'A $dynamicRef with a non-matching $dynamicAnchor in the same schema resource behaves like a normal $ref to $anchor',
      'A $dynamicRef that initially resolves to a schema with a matching $dynamicAnchor resolves to the first $dynamicAnchor in the dynamic scope',
      'A $dynamicRef that initially resolves to a schema without a matching $dynamicAnchor behaves like a normal $ref to $anchor',
      'multiple dynamic paths to the $dynamicRef keyword',
      'after leaving a dynamic scope, it is not used by a $dynamicRef',
    ],
  },
  {
    reason: 'all vocabularies of the draft apply, whatever $schema names',
    file: 'draft2020-12/vocabulary.json',
    misjudged: ['no validation: invalid number, but it still validates'],
    groups: ['schema that uses custom metaschema with with no validation vocabulary'],
  },
  { ...IDN, file: 'draft2020-12/optional/format/idn-hostname.json' },
]

const { check } = createPublisherSchemas()

describe.each(Object.entries(DRAFTS))('JSON-Schema-Test-Suite, %s', (draft, $schema) => {
  const counts = { passed: 0, excepted: 0 }
  const files = readdirSync(new URL(`${draft}/`, SUITE), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .map((name) => `${draft}/${name}`)

  it.each(files.sort())('%s', (file) => {
    const groups: Group[] = JSON.parse(readFileSync(new URL(file, SUITE), 'utf8'))
    const exceptions = EXCEPTIONS.filter((exception) => exception.file === file)
    for (const { groups: names } of exceptions) {
      if (names !== 'all') expect(groups.map(({ description }) => description)).toEqual(expect.arrayContaining(names))
    }
    for (const { description, schema: original, tests } of groups) {
      const exception = exceptions.find(({ groups: names }) => names === 'all' || names.includes(description))
      const schema = described(original, $schema)
      const [issue] = checkPublisherSchema(schema, '')
      const refused = exception && 'refused' in exception ? exception.refused : undefined
      const misjudged = exception && 'misjudged' in exception ? exception.misjudged : []
      if (misjudged !== 'invalid')
        expect(tests.map((test) => test.description)).toEqual(expect.arrayContaining(misjudged))
      expect(issue?.message ?? 'accepted', description).toMatch(refused ?? /^accepted$/)
      for (const { description: name, data, valid } of tests) {
        if (refused) {
          counts.excepted++
          continue
        }
        const isException = misjudged === 'invalid' ? !valid : misjudged.includes(name)
        expect(check(schema, data).length === 0, `${description}: ${name}`).toBe(isException ? !valid : valid)
        counts[isException ? 'excepted' : 'passed']++
      }
    }
  })

  it('passes as many cases as the documentation says', () => {
    expect(counts).toEqual(
      { draft7: { passed: 1323, excepted: 60 }, 'draft2020-12': { passed: 1674, excepted: 114 } }[draft],
    )
  })
})

it('has exceptions for existing files only', () => {
  for (const { file } of EXCEPTIONS) expect(() => readFileSync(new URL(file, SUITE)), file).not.toThrow()
})

/** As a publisher writes it: an object that names its draft unless it is 2020-12. */
function described(schema: JsonObject | boolean, $schema: string | undefined): JsonObject {
  const description = typeof schema === 'boolean' ? { allOf: [schema] } : schema
  return $schema === undefined ? description : { $schema, ...description }
}
