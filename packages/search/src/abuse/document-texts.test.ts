import { describe, expect, it } from 'vitest'
import { toPointer, visitTexts } from './document-texts.js'

describe('visitTexts', () => {
  it('visits every value and every member name with its path', () => {
    const seen: string[] = []
    visitTexts({ a: 'one', 'b/c': [{ d: 'two' }, 3, null, ['three']] }, (text, path, kind) => {
      seen.push(`${kind} ${text} ${toPointer(path)}`)
    })
    expect(seen).toEqual([
      'name a /a',
      'value one /a',
      'name b/c /b~1c',
      'name d /b~1c/0/d',
      'value two /b~1c/0/d',
      'value three /b~1c/3/0',
    ])
  })
})

describe('toPointer', () => {
  it('keeps names in any language, truncates long and deep ones, and replaces invisible characters', () => {
    expect(toPointer(['properties', 'città'])).toBe('/properties/città')
    expect(toPointer(['a\u202eb', 'x'.repeat(1000)])).toBe(`/a?b/${'x'.repeat(32)}…`)
    expect(toPointer(Array(60).fill('a'))).toBe(`${'/a'.repeat(12)}/…`)
  })
})
