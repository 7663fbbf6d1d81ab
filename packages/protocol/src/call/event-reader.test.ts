import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { within } from '../../test/cpu-time.js'
import { createEventReader, readEventStream, type ServerSentEvent } from './event-reader.js'

const read = (pieces: readonly string[], maxLength = 1000): ServerSentEvent[] => {
  const reader = createEventReader(maxLength, () => new Error('too large'))
  return pieces.flatMap((piece) => [...reader.read(piece)])
}

describe('server-sent events', () => {
  it.each([
    ['LF', 'data: a\ndata: b\n\n'],
    ['CR LF', 'data: a\r\ndata: b\r\n\r\n'],
    ['CR', 'data: a\rdata: b\r\r'],
  ])('may end lines with %s', (_, text) => {
    expect(read([text])).toEqual([{ data: 'a\nb' }])
  })

  it('have a name and an id, which apply to one event only', () => {
    expect(read(['event: status\nid: 7\ndata:x\n\n', 'data: y\n\n'])).toEqual([
      { event: 'status', id: '7', data: 'x' },
      { data: 'y' },
    ])
  })

  it('need data; comments and unknown fields are ignored', () => {
    expect(read([': hello\nevent: a\n\nretry: 5\nwhat: 1\ndata\n\n'])).toEqual([{ data: '' }])
  })

  it('are the same however the text is split', () => {
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
    ['an endless line', ['data: ', ...Array(300).fill('x'.repeat(10))]],
    ['an endless event', Array(300).fill('data: 12345\n')],
    ['one long line', [`data: ${'x'.repeat(2000)}\n\n`]],
  ])('are rejected for %s', (_, pieces) => {
    expect(() => read(pieces)).toThrow('too large')
  })

  it('are returned if they precede one that is too large', () => {
    const reader = createEventReader(10, () => new Error('too large'))
    const events = reader.read(`data: a\n\ndata: ${'x'.repeat(20)}\n\n`)[Symbol.iterator]()
    expect(events.next().value).toEqual({ data: 'a' })
    expect(() => events.next()).toThrow('too large')
  })

  it('have the same limit however the text is split', () => {
    const text = `event: a\ndata: ${'x'.repeat(499)}\ndata: ${'y'.repeat(500)}\n\n`
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const places = [0, ...cuts.sort((a, b) => a - b), text.length]
        const pieces = places.slice(1).map((end, n) => text.slice(places[n], end))
        expect(read(pieces, 1000)).toHaveLength(1)
        expect(() => read(pieces, 999)).toThrow('too large')
      }),
    )
  })

  it.each([
    ['unknown fields', 'a\n'],
    ['invalid retries', 'retry:x\n'],
    ['LF lines before a CR', '\n'],
    ['comments', ':\n'],
  ])('take linear time for a stream of %s', (_, line) => {
    const piece = `${line.repeat(65_536 / line.length)}\r`
    const reader = createEventReader(1000, () => new Error('too large'))
    within(3000, () => {
      for (let i = 0; i < 50; i++) expect([...reader.read(piece)]).toEqual([])
    })
  })

  it('are read from bytes, even if a character is split', async () => {
    const options = { maxLength: 100, tooLarge: () => new Error('too large'), notUtf8: () => new Error('not UTF-8') }
    const gather = async (...chunks: Uint8Array[]): Promise<ServerSentEvent[]> => {
      const events: ServerSentEvent[] = []
      const body = (async function* () {
        yield* chunks
      })()
      for await (const event of readEventStream(body, options)) events.push(event)
      return events
    }
    const bytes = new TextEncoder().encode('data: é\n\n')
    expect(await gather(bytes.slice(0, 7), bytes.slice(7))).toEqual([{ data: 'é' }])
    await expect(gather(new Uint8Array([0xff]))).rejects.toThrow('not UTF-8')
  })
})
