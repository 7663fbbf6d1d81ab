import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quoteVersions } from './quote-versions.js'

describe('quoteVersions', () => {
  it.each([
    ['{"version":1.10}', '{"version":"1.10"}'],
    ['{ "version" :\n -2e5 }', '{ "version" :\n "-2e5" }'],
    ['{"capabilities":[{"version":1.0},{"version":"2"}]}', '{"capabilities":[{"version":"1.0"},{"version":"2"}]}'],
    ['{"a":{"version":1.0},"b":[{"version":1.0}]}', '{"a":{"version":1.0},"b":[{"version":1.0}]}'],
    ['{"capabilities":[{"x":{"version":1.0}}]}', '{"capabilities":[{"x":{"version":1.0}}]}'],
    ['{"x":"\\"version\\":1.0","version":[1.0]}', '{"x":"\\"version\\":1.0","version":[1.0]}'],
    ['{"version":"a","n":1.0,"m":{"version":2}}', '{"version":"a","n":1.0,"m":{"version":2}}'],
  ])('turns %s into %s', (text, quoted) => {
    expect(quoteVersions(text)).toBe(quoted)
  })

  it('changes nothing but versions, in any JSON', () => {
    const version = fc.oneof(fc.jsonValue(), fc.double({ noNaN: true, noDefaultInfinity: true }))
    const document = fc.record({ a: fc.jsonValue(), version, capabilities: fc.array(fc.record({ version })) })
    fc.assert(
      fc.property(document, fc.constantFrom(undefined, 2), (value, indent) => {
        const said = (part: unknown): unknown => (typeof part === 'number' ? JSON.stringify(part) : part)
        expect(JSON.parse(quoteVersions(JSON.stringify(value, undefined, indent)))).toEqual(
          JSON.parse(
            JSON.stringify({
              ...value,
              version: said(value.version),
              capabilities: value.capabilities.map((each) => ({ version: said(each.version) })),
            }),
          ),
        )
      }),
    )
  })
})
