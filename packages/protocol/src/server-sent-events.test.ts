import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEventReader, type ServerSentEvent } from './server-sent-events.js'

const read = (pieces: readonly string[], maxLength = 1000): ServerSentEvent[] => {
  const reader = createEventReader(maxLength, () => new Error('too large'))
  return pieces.flatMap((piece) => [...reader.read(piece)])
}

describe('server-sent events', () => {
  it.each([
    ['LF', 'data: a\ndata: b\n\n'],
    ['CR LF', 'data: a\r\ndata: b\r\n\r\n'],
    ['CR', 'data: a\rdata: b\r\r'],
  ])('end their lines with %s', (_, text) => {
    expect(read([text])).toEqual([{ data: 'a\nb' }])
  })

  it('have a name and an id, which hold for one event', () => {
    expect(read(['event: status\nid: 7\ndata:x\n\n', 'data: y\n\n'])).toEqual([
      { event: 'status', id: '7', data: 'x' },
      { data: 'y' },
    ])
  })

  it('are nothing without data, and comments and unknown fields are nothing at all', () => {
    expect(read([': hello\nevent: a\n\nretry: 5\nwhat: 1\ndata\n\n'])).toEqual([{ data: '' }])
  })

  it('come out the same however the text is cut', () => {
    const text = 'event: a\r\ndata: 1\r\ndata: 2\r\n\r\n:c\rdata: 3\r\rid: 9\ndata: 4\n\n'
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), text.length]
        const pieces = places.slice(1).map((end, n) => text.slice(places[n], end))
        expect(read(pieces)).toEqual([{ event: 'a', data: '1\n2' }, { data: '3' }, { id: '9', data: '4' }])
      }),
    )
  })

  it.each([
    ['a line without end', ['data: ', ...Array(300).fill('x'.repeat(10))]],
    ['an event without end', Array(300).fill('data: 12345\n')],
    ['one long line', [`data: ${'x'.repeat(2000)}\n\n`]],
  ])('are refused for %s', (_, pieces) => {
    expect(() => read(pieces)).toThrow('too large')
  })

  it('that were complete before one too large are told', () => {
    const reader = createEventReader(10, () => new Error('too large'))
    const events = reader.read(`data: a\n\ndata: ${'x'.repeat(20)}\n\n`)[Symbol.iterator]()
    expect(events.next().value).toEqual({ data: 'a' })
    expect(() => events.next()).toThrow('too large')
  })
})
