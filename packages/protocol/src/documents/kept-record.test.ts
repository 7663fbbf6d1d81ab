import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KINDS, sentDocument } from '../../test/arbitraries.js'
import { fixture } from '../../test/fixtures.js'
import type { JsonObject } from '../json.js'
import { ParsedRecords } from './kept-record.js'
import { withLearned } from './learned.js'
import { keepText, textOf } from './original-text.js'
import { readRecord } from './read.js'
import { type AgentRecord, type LearnedOperations, plainRecord } from './record.js'
import { redactRecord } from './redact.js'
import { toAidip } from './views/aidip.js'
import { toProfile } from './views/profile.js'

const read = (document: JsonObject, id = 'a'): AgentRecord => readRecord('aidip', document, id)

/** Records of which only the last one read stays parsed. */
const createSmall = (): ParsedRecords => new ParsedRecords(1)

/** Makes the records drop everything that is parsed of others. */
const evict = (records: ParsedRecords): void => void records.keep('{}', read({}))

const keep = (records: ParsedRecords, record: AgentRecord) => records.keep(textOf(record.document), record)

describe('a kept record', () => {
  it.each(KINDS)('is the same, whole and redacted, after it was dropped: %s', (kind) => {
    fc.assert(
      fc.property(sentDocument(kind), fc.boolean(), ({ format, document }, redacted) => {
        const record = readRecord(format, document, 'a', redacted)
        const records = createSmall()
        const kept = keep(records, record)
        expect(kept.parsed).toBe(record)
        evict(records)
        expect(kept.parsed).not.toBe(record)
        expect(plainRecord(kept)).toEqual(record)
        expect(JSON.stringify(kept.document)).toBe(JSON.stringify(document))
        for (const name of Object.keys(record) as (keyof AgentRecord)[]) expect(kept[name], name).toEqual(record[name])
        const shown = redactRecord(kept)
        expect(shown === kept).toBe(redactRecord(record) === record)
        evict(records)
        expect(plainRecord(shown)).toEqual(redactRecord(record))
        expect(JSON.stringify(shown.document)).toBe(JSON.stringify(redactRecord(record).document))
      }),
      { numRuns: 50 },
    )
  })

  it('keeps the text of a signed document', () => {
    const text = '{ "name": "A",  "description": "\\u0041", "signature": {"value": "x", "keyId": "k"} }'
    const document: JsonObject = JSON.parse(text)
    keepText(document, () => text)
    const records = createSmall()
    const kept = records.keep(text, read(document))
    evict(records)
    expect(kept.document).not.toBe(document)
    expect(textOf(kept.document)).toBe(textOf(document))
  })

  it('includes what the agent itself lists', () => {
    const learned: LearnedOperations = {
      source: 'mcp',
      operations: [{ name: 'add', inputs: { a: 'number' }, outputs: {} }],
      isComplete: true,
      at: 1,
    }
    const plain = read(fixture('FX-T01', { private: ['description'] }))
    const records = createSmall()
    const kept = records.keepLearned(keep(records, plain), learned)
    evict(records)
    expect(plainRecord(kept)).toEqual(withLearned(plain, learned))
    expect(kept.learned).toBe(learned)
    evict(records)
    expect(plainRecord(redactRecord(kept))).toEqual(redactRecord(withLearned(plain, learned)))
  })

  it('can be copied as a plain record', () => {
    const records = createSmall()
    const kept = keep(records, read(fixture('FX-T01')))
    evict(records)
    expect({ ...plainRecord(kept), name: 'other' }).toEqual({ ...read(fixture('FX-T01')), name: 'other' })
    const facts = {
      ...{ baseUrl: 'https://d.example', number: 1, verification: {}, lifetime: 1, receivedAt: 0, modifiedAt: 0 },
    }
    evict(records)
    expect(toAidip(kept, facts)).toEqual(toAidip(read(fixture('FX-T01')), facts))
    evict(records)
    expect(toProfile(kept, facts)).toEqual(toProfile(read(fixture('FX-T01')), facts))
  })
})

describe('the parsed records', () => {
  const LENGTH = 100_000
  const many = (records: ParsedRecords, from: number, count: number) =>
    Array.from({ length: count }, (_, i) => keep(records, read({ description: 'x'.repeat(200) }, `agent-${from + i}`)))
  /** Whether the record is still the parsed one that was seen before. */
  const readAll = (records: readonly { readonly parsed: AgentRecord }[]) => records.map(({ parsed }) => parsed)

  it('stay within their length, however many are read', () => {
    const records = new ParsedRecords(LENGTH)
    const all = many(records, 0, 2000)
    for (let round = 0; round < 3; round++) {
      for (const { tags } of all) expect(tags).toEqual([])
      expect(records.length).toBeLessThanOrEqual(LENGTH)
    }
    expect(records.length).toBeGreaterThan(0)
  })

  it('stay parsed if they are read again and again, also while all others are read once', () => {
    const records = new ParsedRecords(LENGTH)
    const often = many(records, 0, 5)
    for (let i = 0; i < 10; i++) {
      many(records, 1000 * (i + 1), 3)
      readAll(often)
    }
    const before = readAll(often)
    const others = many(records, 100_000, 1000)
    for (const { tags } of others) expect(tags).toEqual([])
    expect(readAll(often).every((parsed, i) => parsed === before[i])).toBe(true)
  })
})
