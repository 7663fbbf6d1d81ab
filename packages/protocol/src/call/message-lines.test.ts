import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AGENT_MESSAGES, MESSAGES } from '../../test-vectors/call/frames.js'
import { createMessageLines } from './message-lines.js'

const create = (maxLength: number) =>
  createMessageLines(maxLength, () => {
    throw new Error(`longer than ${maxLength}`)
  })

const readAll = (messages: readonly string[]): string[] => {
  const lines = create(1_000_000)
  const read = messages.flatMap((message) => [...lines.push(message)])
  return [...read, ...[lines.end()].filter((line) => line !== undefined)]
}

describe('createMessageLines', () => {
  it.each([...MESSAGES, ...AGENT_MESSAGES])('AURI-8-06 reads $name', ({ messages, lines }) => {
    expect(readAll(messages)).toEqual(lines)
  })

  it('AURI-8-06 returns the same lines however they are split into messages', () => {
    const lines = fc.array(
      fc.json().map((text) => `{"id":"1","input":${text}}`),
      { minLength: 1, maxLength: 5 },
    )
    fc.assert(
      fc.property(lines, fc.array(fc.nat(200), { maxLength: 10 }), (all, cuts) => {
        const text = `${all.join('\n')}\n`
        const places = [...new Set([0, ...cuts.map((cut) => cut % text.length), text.length])].sort((a, b) => a - b)
        expect(readAll(places.slice(1).map((end, i) => text.slice(places[i], end)))).toEqual(all)
      }),
    )
  })

  it('rejects a line that is too long, terminated or not', () => {
    const lines = create(10)
    expect([...lines.push('{2345')]).toEqual([])
    expect(() => [...lines.push('678901')]).toThrow('longer than 10')
    expect(() => [...create(10).push('"234567890"')]).toThrow('longer than 10')
  })
})
