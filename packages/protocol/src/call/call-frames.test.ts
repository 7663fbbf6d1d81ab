import { describe, expect, it } from 'vitest'
import { CALLER_FRAMES, REPLIES } from '../../test-vectors/call/frames.js'
import { isRequestFrame, type ReplyFrame, readCallerFrame, readReply, writeFrame } from './call-frames.js'

describe('readCallerFrame', () => {
  it.each(CALLER_FRAMES)('AURI-8-06 reads $name', ({ line, frame, isRequest }) => {
    const read = readCallerFrame(line)
    if (frame) expect(read).toMatchObject(frame)
    else expect(read).toBeUndefined()
    expect(isRequestFrame(line)).toBe(isRequest)
  })

  it('AURI-8.1-04 keeps the members that replace headers', () => {
    expect(readCallerFrame({ id: '1', input: 1, stream: true, sessionId: 's', taskId: 't' })).toEqual({
      kind: 'request',
      id: '1',
      input: 1,
      wantsStream: true,
      members: { sessionId: 's', taskId: 't' },
    })
  })
})

describe('readReply', () => {
  it.each(REPLIES)('AURI-8-06 reads $name', ({ lines, parts, error }) => {
    const frames = lines.map((line) => readReply(line, (id) => id === '1').frame)
    expect(frames.flatMap(dataOf)).toEqual(parts.map(({ data }) => data))
    const last = frames.at(-1)
    if (error?.status !== undefined) expect(last).toMatchObject({ kind: 'error', status: error.status })
    // Without a status, the reply is an error frame, or ends after a framed part without an end frame.
    else if (error) expect(last?.kind === 'error' || (last?.kind === 'part' && !last.isBare)).toBe(true)
    else expect(last?.kind !== 'part' || last.isBare).toBe(true)
  })

  it.each([{ data: 1 }, { result: 1 }, { error: {} }, { done: true }])(
    'recognizes a frame of another call: %o',
    (members) => {
      expect(readReply({ id: '2', ...members }, (id) => id === '1')).toMatchObject({ isForeign: true })
      expect(readReply({ id: '1', ...members }, (id) => id === '1')).toMatchObject({ id: '1', isForeign: false })
    },
  )
})

const dataOf = (frame: ReplyFrame) =>
  frame.kind === 'part' ? [frame.data] : frame.kind === 'result' ? [frame.value] : []

describe('writeFrame', () => {
  it('AURI-8-06 writes one line of JSON that can be read back', () => {
    const line = writeFrame({ id: '1', input: { text: 'a\nb' }, stream: true, sessionId: 's' })
    expect(line).toBe('{"id":"1","input":{"text":"a\\nb"},"stream":true,"sessionId":"s"}\n')
    expect(isRequestFrame(JSON.parse(line))).toBe(true)
    expect(writeFrame({ id: 1, done: true })).toBe('{"id":1,"done":true}\n')
  })
})
