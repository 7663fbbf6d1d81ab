import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { within } from '../../test/cpu-time.js'
import { createByteLineSplitter, createLineSplitter } from './line-splitter.js'

const tooLong = (): never => {
  throw new Error('too long')
}
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

/** Splits a text or bytes at these positions. */
const cut = <Piece extends { slice(start: number, end: number): Piece; length: number }>(
  whole: Piece,
  cuts: readonly number[],
): Piece[] => {
  const at = [0, ...cuts.map((place) => Math.min(place, whole.length)).sort((a, b) => a - b), whole.length]
  return at.slice(1).map((end, i) => whole.slice(at[i] ?? 0, end))
}

describe('line splitters', () => {
  const text = fc
    .array(fc.constantFrom('a', 'é', '\r', '\n', '\r\n', '😀'), { maxLength: 40 })
    .map((all) => all.join(''))

  it('return the same lines however the text or bytes are split', () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat(60), { maxLength: 8 }), (whole, cuts) => {
        const texts = createLineSplitter(200, tooLong)
        const lines = cut(whole, cuts).flatMap((piece) => [...texts.push(piece)])
        expect([...lines, texts.end() ?? '']).toEqual(whole.split('\n'))

        const bytes = createByteLineSplitter(200, tooLong)
        const byteLines = cut(encode(whole), cuts).flatMap((piece) => [...bytes.push(piece)].map(decode))
        expect([...byteLines, decode(bytes.end() ?? encode(''))]).toEqual(whole.split('\n'))
      }),
    )
  })

  it('take linear time when a line arrives one character at a time', () => {
    const splitter = createLineSplitter(2_000_000, tooLong)
    const lines = within(3000, () => {
      for (let i = 0; i < 1_000_000; i++) for (const line of splitter.push('x')) expect(line).toBe('')
      return [...splitter.push('\n')]
    })
    expect(lines[0]).toHaveLength(1_000_000)
  })

  it('reject a line over the limit immediately, after returning the lines before it', () => {
    const splitter = createLineSplitter(5, tooLong)
    const lines = splitter.push('12345\n123456')[Symbol.iterator]()
    expect(lines.next().value).toBe('12345')
    expect(() => lines.next()).toThrow('too long')
  })

  it('replace a line over the limit, and continue after it', () => {
    const splitter = createByteLineSplitter(3, () => undefined)
    const lines = ['12', '34', '5', '67\nab', 'c\n', '1234'].flatMap((piece) => [...splitter.push(encode(piece))])
    expect(lines.map((line) => line && decode(line))).toEqual([undefined, 'abc'])
    expect(splitter.end()).toBeUndefined()
  })

  it('report whether a line has started', () => {
    const splitter = createLineSplitter(10, tooLong)
    expect(splitter.isAtLineStart).toBe(true)
    expect([...splitter.push('a')]).toEqual([])
    expect(splitter.isAtLineStart).toBe(false)
    expect([...splitter.push('\n')]).toEqual(['a'])
    expect(splitter.isAtLineStart).toBe(true)
    expect(splitter.end()).toBeUndefined()
  })
})
