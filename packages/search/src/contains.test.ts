import { isObject, type JsonValue, sameJson } from '@switchboard/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { containmentTest } from './contains.js'

/** The definition, word by word: slow, because it compares every item with every item. */
function contains(has: JsonValue | undefined, wanted: JsonValue, asText = false): boolean {
  if (has === undefined) return false
  if (Array.isArray(wanted)) return wanted.every((item) => contains(has, item, asText))
  if (Array.isArray(has)) return has.some((item) => contains(item, wanted, asText))
  if (isObject(wanted)) {
    return (
      isObject(has) &&
      Object.entries(wanted).every(([name, value]) =>
        contains(Object.hasOwn(has, name) ? has[name] : undefined, value, asText),
      )
    )
  }
  return sameJson(has, wanted) || (asText && ['number', 'boolean'].includes(typeof has) && String(has) === wanted)
}

const value: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<JsonValue[]>('a', 'b', '1', 'true', 1, 2, true, null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('x', 'y', 'constructor'), tie('value'), { maxKeys: 2, noNullPrototype: true }),
  ),
})).value

describe('containmentTest', () => {
  it('C-50 finds a value, or a list or object that contains all that is wanted', () => {
    fc.assert(
      fc.property(fc.option(value, { nil: undefined }), value, fc.boolean(), (has, wanted, asText) => {
        expect(containmentTest(wanted, asText)(has)).toBe(contains(has, wanted, asText))
      }),
      { numRuns: 5000 },
    )
  })
})
