import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createLineReader } from './read-lines.js'

describe('the line reader', () => {
  it('AURI-8-06 gives the same lines however they are cut into messages', () => {
    const lines = fc.array(
      fc.json().map((text) => `{"id":"1","input":${text}}`),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(lines, fc.array(fc.nat(200), { maxLength: 10 }), (all, cuts) => {
        const read = createLineReader(1_000_000)
        const text = `${all.join('\n')}\n`
        const places = [...new Set([0, ...cuts.map((cut) => cut % text.length), text.length])].sort((a, b) => a - b)
        const pieces = places.slice(1).map((end, i) => text.slice(places[i], end))
        expect(pieces.flatMap((piece) => read(piece))).toEqual(all)
      }),
    )
  })

  it('takes a message that is a whole value for a line', () => {
    const read = createLineReader(100)
    expect(read('{"id":"1"}')).toEqual(['{"id":"1"}'])
    expect(read('{"id":')).toEqual([])
    expect(read('"2"}\n\n{"id":"3"}\n')).toEqual(['{"id":"2"}', '{"id":"3"}'])
  })

  it('bears no line without an end', () => {
    const read = createLineReader(10)
    read('12345')
    expect(() => read('678901')).toThrow(/longer than 10/)
  })
})
