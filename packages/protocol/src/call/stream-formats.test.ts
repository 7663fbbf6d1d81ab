import { describe, expect, it } from 'vitest'
import { WRITTEN_STREAMS } from '../../test-vectors/call/streams.js'
import { createEventReader } from './event-reader.js'
import { isEndEvent } from './read-event.js'
import { EVENT_STREAM, isErrorLine, NDJSON } from './stream-formats.js'

describe('stream formats', () => {
  it.each(WRITTEN_STREAMS)('C-59 AURI-8-09 write $name', ({ parts, events, lines }) => {
    expect(parts.map(EVENT_STREAM.part).join('') + EVENT_STREAM.end).toBe(events)
    expect(parts.map(NDJSON.part).join('') + NDJSON.end).toBe(lines)
  })

  it('C-59 write an end mark and heartbeats that readers recognize', () => {
    const reader = createEventReader(1000, () => new Error('too large'))
    const events = [...reader.read(EVENT_STREAM.heartbeat + EVENT_STREAM.end)]
    expect(events.map(isEndEvent)).toEqual([true])
    expect(NDJSON.heartbeat.trim()).toBe('')
  })

  it('remove line breaks from names and ids of events', () => {
    const part = EVENT_STREAM.part({ data: 1, event: 'x\ndata: forged', id: '1\r\n\r\ndata: forged' })
    expect(part).toBe('id: 1    data: forged\nevent: x data: forged\ndata: 1\n\n')
  })

  it('C-59 write an error as a line that readers recognize, whether already wrapped or not', () => {
    const wrapped = '{"error":{"code":"Timeout"}}\n'
    expect(NDJSON.error({ error: { code: 'Timeout' } })).toBe(wrapped)
    expect(NDJSON.error({ code: 'Timeout' })).toBe(wrapped)
    expect(isErrorLine(JSON.parse(wrapped))).toBe(true)
    expect(EVENT_STREAM.error({ code: 'Timeout' })).toBe('event: error\ndata: {"code":"Timeout"}\n\n')
  })
})
