import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonObject, type JsonValue, parseJson, sameJson } from '../json.js'
import { canonicalJson } from './canonical-json.js'

const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<JsonValue>(null, true, false, 0, -1.5, 1e21, 5e-324),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.string({ unit: 'grapheme' }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.string({ unit: 'grapheme' }).filter((name) => name !== '__proto__'),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value

describe('canonicalJson', () => {
  it('writes the example of RFC 8785, section 3.2', () => {
    const value = parseJson(
      String.raw`{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
      }`,
    )
    expect(canonicalJson(value)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  it('orders members by UTF-16 code units, as RFC 8785, section 3.2.3 shows', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6']
    const value: JsonObject = Object.fromEntries(names.map((name) => [name, 0]))
    expect(canonicalJson(value)).toBe('{"\\r":0,"1":0,"\u0080":0,"\u00f6":0,"\u20ac":0,"\u{1f600}":0,"\ufb33":0}')
  })

  it('writes the same text for any order of members, and loses nothing', () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value)
        expect(sameJson(parseJson(text), zeroed(value))).toBe(true)
        expect(canonicalJson(reversed(value))).toBe(text)
      }),
    )
  })

  it('rejects values without a canonical form', () => {
    expect(() => canonicalJson('\ud800')).toThrow(/surrogate/)
    expect(() => canonicalJson({ '\udc00': 1 })).toThrow(/surrogate/)
    expect(() => canonicalJson(Number.NaN)).toThrow(/number/)
    expect(() => canonicalJson(nested(100_000))).toThrow(/nesting/)
  })
})

/** -0 is written as 0. */
function zeroed(value: JsonValue): JsonValue {
  return parseJson(JSON.stringify(value))
}

function reversed(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, reversed(item)]),
  )
}

function nested(depth: number): JsonValue {
  let value: JsonValue = 0
  for (let i = 0; i < depth; i++) value = [value]
  return value
}
