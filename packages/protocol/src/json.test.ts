import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonValue } from '../test/arbitraries.js'
import { within } from '../test/cpu-time.js'
import { DirectoryError } from './errors.js'
import {
  asObjects,
  asString,
  asStrings,
  countValues,
  isObject,
  type JsonValue,
  MAX_JSON_MEMBERS,
  parseJson,
  pointerToken,
  sameJson,
  TooManyValues,
} from './json.js'

/** The message of the rejection. */
function refusal(text: string): string {
  try {
    parseJson(text)
  } catch (error) {
    if (error instanceof DirectoryError && error.code === 'invalid_request') return error.message
    throw error
  }
  throw new Error(`accepted: ${text.slice(0, 100)}`)
}

const LONE = ['\ud800', '\udfff', 'a\ud83d', '\ude00\ud83d']

describe('parseJson', () => {
  it('returns the same values as JSON.parse', () => {
    fc.assert(
      fc.property(jsonValue, fc.nat(4), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent)
        expect(parseJson(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  it('agrees with JSON.parse on any text, except for what it deliberately rejects', () => {
    const reasons = /duplicate member|__proto__|surrogate|deeper than 64|too large for a double/
    const scraps = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '"a"',
        '\\',
        '\\u00e9',
        '1',
        '-',
        '.5',
        'e3',
        'true',
        'nul',
        ' ',
        '\n',
        '\t',
        '0',
      ),
    )
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.json(),
      scraps.map((parts) => parts.join('')),
    )
    fc.assert(
      fc.property(texts, (text) => {
        let expected: JsonValue | undefined
        try {
          expected = JSON.parse(text)
        } catch {
          expected = undefined
        }
        if (expected === undefined) expect(refusal(text)).toContain('not valid JSON')
        else {
          try {
            expect(parseJson(text)).toEqual(expected)
          } catch (error) {
            if (!(error instanceof DirectoryError)) throw error
            expect(error.message).toMatch(reasons)
          }
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('rejects duplicate members, at any level and however they are written', () => {
    expect(refusal('{"a":1,"a":2}')).toBe('the body is not valid JSON: duplicate member "a" at line 1, column 8')
    expect(refusal('[{"b":{"é":1,"\\u00e9":1}}]')).toContain('duplicate member "é"')
    expect(parseJson('{"a":{"a":1},"b":{"a":1}}')).toEqual({ a: { a: 1 }, b: { a: 1 } })
  })

  it('rejects a member named __proto__, even if escaped, but accepts the string value', () => {
    expect(refusal('{"__proto__":{}}')).toContain('must not be named __proto__')
    expect(refusal('[{"a":{"\\u005f_proto__":1}}]')).toContain('must not be named __proto__')
    expect(parseJson('["__proto__"]')).toEqual(['__proto__'])
  })

  it('keeps members named like those of Object.prototype as plain data', () => {
    const text = '{"constructor":1,"toString":{"valueOf":[]},"hasOwnProperty":null}'
    const value = parseJson(text)
    expect(JSON.stringify(value)).toBe(text)
    expect(isObject(value) && Object.keys(value)).toEqual(['constructor', 'toString', 'hasOwnProperty'])
  })

  it.each(LONE)('rejects lone surrogates, raw and escaped, in strings and in names (%j)', (lone) => {
    const escaped = [...lone].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
    for (const text of [`"${lone}"`, `["${escaped}"]`, `{"${lone}":1}`, `{"x":{"${escaped}":1}}`]) {
      expect(refusal(text)).toContain('lone surrogate')
    }
  })

  it('accepts complete surrogate pairs, raw, escaped and mixed', () => {
    expect(parseJson('["😀","\\ud83d\\ude00","\\ud83d\ude00","\ud83d\\ude00"]')).toEqual(['😀', '😀', '😀', '😀'])
  })

  it('accepts 64 levels of nesting and rejects 65, in arrays and objects', () => {
    const arrays = (n: number, inside = '1') => '['.repeat(n) + inside + ']'.repeat(n)
    const objects = (n: number) => `${'{"a":'.repeat(n)}1${'}'.repeat(n)}`
    for (const text of [arrays(64), arrays(64, ''), objects(64)]) expect(parseJson(text)).toEqual(JSON.parse(text))
    for (const text of [arrays(65), arrays(65, ''), objects(65)]) expect(refusal(text)).toContain('deeper than 64')
    expect(refusal(arrays(65))).toContain('line 1, column 65')
  })

  it.each(['1e400', '-1e400', '1e999999999', `1${'0'.repeat(400)}`])(
    'rejects %s, which overflows a double',
    (number) => {
      expect(refusal(`[${number}]`)).toContain('too large for a double')
    },
  )

  it('reads other numbers as JSON.parse does, large integers as the nearest double', () => {
    for (const number of ['9007199254740993', '1e-400', '-0', '0.1', '-1.5E+3', '1e308']) {
      expect(parseJson(number)).toBe(JSON.parse(number))
    }
    for (const text of ['01', '+1', '.5', '1.', '1e', '-', '0x1', 'NaN', 'Infinity']) refusal(text)
  })

  it('AURI-A-01 suggests quoting an unquoted version, and says where it is', () => {
    const message = refusal('{\n  "name": "planner",\n  "version": 3.1.4\n}')
    expect(message).toContain('quote it')
    expect(message).toContain('line 3, column 14')
    expect(refusal('{"version" : 1.0-beta}')).toContain('quote it')
    expect(refusal('{"version":2.x}')).toContain('quote it')
    expect(refusal('{"other": 3.1.4}')).not.toContain('quote it')
    expect(parseJson('{"version": 3.1}')).toEqual({ version: 3.1 })
  })

  it('reports the line and column of the error', () => {
    expect(refusal('')).toContain('unexpected end of the text at line 1, column 1')
    expect(refusal('{\n "a": tru }')).toContain('line 2, column 7')
    expect(refusal('{"a":1} x')).toContain('unexpected text after the value at line 1, column 9')
    expect(refusal('["a\nb"]')).toContain('control character')
    expect(refusal('"abc')).toContain('unterminated string')
  })

  it('skips a byte order mark', () => {
    expect(parseJson('\ufeff{"a":1}')).toEqual({ a: 1 })
    refusal('\ufeff')
    refusal('{"a":1}\ufeff')
  })

  it('limits the members of an object', () => {
    const wide = (members: number): string => `{${Array.from({ length: members }, (_, i) => `"${i}":0`).join(',')}}`
    expect(Object.keys(parseJson(wide(MAX_JSON_MEMBERS)) as object)).toHaveLength(MAX_JSON_MEMBERS)
    expect(refusal(wide(MAX_JSON_MEMBERS + 1))).toContain('more than 50000 members: use an array')
  })

  it('counts the values, and stops at the first beyond the limit', () => {
    const values = '[0, "a", {"b": [null, true]}, []]'
    expect(countValues(JSON.parse(values))).toBe(8)
    expect(parseJson(values, { maxValues: 8 })).toEqual(JSON.parse(values))
    expect(() => parseJson(values, { maxValues: 7 })).toThrow(TooManyValues)
    expect(() => parseJson('[0,0,!', { maxValues: 2 })).toThrow(/more than 2 values .*, which is the limit: shorten/)
  })

  it('counts as many values as there are', () => {
    fc.assert(
      fc.property(jsonValue, (value) => {
        const text = JSON.stringify(value)
        const maxValues = countValues(value)
        expect(parseJson(text, { maxValues })).toEqual(value)
        expect(() => parseJson(text, { maxValues: maxValues - 1 })).toThrow(TooManyValues)
      }),
    )
  })

  it('takes little time for 8 MiB of any shape, if the number of values is limited', () => {
    const size = 8 * 1024 * 1024
    const fill = (unit: string, before = '', after = '') => before + unit.repeat(Math.floor(size / unit.length)) + after
    const shapes = {
      lists: fill(`${'['.repeat(60)}${']'.repeat(60)},`, '[', '0]'),
      emptyLists: fill('[],', '[', '0]'),
      numbers: fill('1,', '[', '1]'),
      string: fill('a', '"', '"'),
      escapes: fill('\\n', '"', '"'),
      hexEscapes: fill('\\u0041', '"', '"'),
      lines: fill('\n', '[', '!'),
    }
    for (const [shape, text] of Object.entries(shapes)) {
      const read = (): void => {
        try {
          parseJson(text, { maxValues: 100_000 })
        } catch (error) {
          expect(error, shape).toBeInstanceOf(DirectoryError)
        }
      }
      within(1000, read, shape)
    }
  })

  it('parses or rejects 256 KiB of any shape quickly', () => {
    const size = 256 * 1024
    const fill = (unit: string, before = '', after = '') => before + unit.repeat(Math.floor(size / unit.length)) + after
    const shapes = {
      brackets: fill('['),
      objects: fill('{"a":'),
      escapes: fill('\\u0041', '"', '"'),
      badEscape: fill('\\u0041', '"', '\\x'),
      members: `{${Array.from({ length: 20_000 }, (_, i) => `"m${i}":0`).join()}}`,
      integerMembers: `{${Array.from({ length: 20_000 }, (_, i) => `"${i * 7919}":0`).join()}}`,
      versions: `${fill('{"version"    :    1.5},', '[')}{"version": 1.2.3}]`,
      spaces: `{"version"${' '.repeat(size)}:1.2.3}`,
      spacesAfter: `{"version":${' '.repeat(size)}1.2.3}`,
      digits: fill('1'),
      fraction: fill('1', '0.'),
      items: fill('1,', '[', '1]'),
      lines: fill('\n', '[', '!'),
      open: fill('a', '"'),
      nearlyProto: fill('{"__proto_":0},', '[', '0]'),
    }
    for (const [shape, text] of Object.entries(shapes)) {
      const read = (): void => {
        try {
          parseJson(text)
        } catch (error) {
          expect(error, shape).toBeInstanceOf(DirectoryError)
        }
      }
      // Each takes less than 30 ms; with quadratic time it would take minutes.
      within(300, read, shape)
    }
  })
})

describe('sameJson', () => {
  it('ignores the order of members but not of items', () => {
    expect(sameJson({ a: [1, { b: 2, c: 3 }] }, { a: [1, { c: 3, b: 2 }] })).toBe(true)
    expect(sameJson([1, 2], [2, 1])).toBe(false)
    expect(sameJson({ a: 1 }, { a: 1, b: 2 })).toBe(false)
    expect(sameJson({ constructor: 1 }, { a: 1 })).toBe(false)
    expect(sameJson({}, [])).toBe(false)
    expect(sameJson(null, {})).toBe(false)
    expect(sameJson(undefined, undefined)).toBe(true)
  })

  it('is true for a copy of any value', () => {
    fc.assert(fc.property(jsonValue, (value) => sameJson(value, structuredClone(value))))
  })
})

describe('readers of unknown values', () => {
  it('return only values of the right type', () => {
    expect([asString('a'), asString(1), asString(undefined)]).toEqual(['a', undefined, undefined])
    expect(asStrings(['a', 1, null, 'b'])).toEqual(['a', 'b'])
    expect(asObjects([{}, [], null, 1, { a: 1 }])).toEqual([{}, { a: 1 }])
    expect([asStrings({ 0: 'a' }), asObjects('x')]).toEqual([[], []])
    expect([isObject({}), isObject([]), isObject(null)]).toEqual([true, false, false])
    expect(pointerToken('a/b~c')).toBe('a~1b~0c')
  })
})
