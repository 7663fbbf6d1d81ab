import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonValue } from '../test/arbitraries.js'
import { type JsonLimits, parseJson } from './json.js'
import { parseJsonQuickly } from './plain-json.js'

/** The value, or the message of the error. */
function outcome(parse: typeof parseJson, text: string, limits: JsonLimits): unknown {
  try {
    return { value: parse(text, limits) }
  } catch (error) {
    return { error: String(error) }
  }
}

describe('parseJsonQuickly', () => {
  it('parses and refuses what parseJson does, with the same messages', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"a":',
      '"b" :',
      '1',
      '1e999',
      '""',
      '"\\":"',
      '"\\u0061"',
      ' ',
    ]
    const odd = fc.array(fc.constantFrom(...pieces, '"__proto__":', '"\ud800"', '\ufeff', 'null'), { maxLength: 14 })
    const text = fc.oneof(
      odd.map((some) => some.join('')),
      fc
        .array(fc.tuple(fc.constantFrom('a', 'b', '\\"', ':'), jsonValue), { maxLength: 4 })
        .map((members) => `{${members.map(([name, value]) => `"${name}":${JSON.stringify(value)}`).join(',')}}`),
    )
    const limits = fc.record({ maxValues: fc.constantFrom(3, 1000), maxDepth: fc.constantFrom(2, 64) })
    fc.assert(
      fc.property(text, limits, (text, limits) => {
        expect(outcome(parseJsonQuickly, text, limits)).toEqual(outcome(parseJson, text, limits))
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['white space before a colon', '{"a":1,"a" :2}'],
    ['a quoted colon that makes up for the duplicate', '{"a":"\\":","a":2}'],
    ['a colon after an escaped backslash', '{"\\\\":1,"\\\\":2}'],
    ['a duplicate in a list', '[{"b":1},{"a":1,"a":1}]'],
    ['an escaped name', '{"a":1,"\\u0061":2}'],
  ])('rejects duplicate members with %s', (_, text) => {
    expect(() => parseJsonQuickly(text)).toThrow('duplicate member')
  })
})
