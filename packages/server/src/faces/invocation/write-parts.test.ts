import {
  DirectoryError,
  EVENT_STREAM,
  NDJSON,
  type PartBatches,
  type StreamFormat,
  type StreamPart,
} from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { WRITTEN_STREAMS } from '../../../../protocol/test-vectors/call/streams.js'
import { heartbeats, SILENCE } from './heartbeats.js'
import { writeParts } from './write-parts.js'

async function write(batches: PartBatches, format: StreamFormat): Promise<string> {
  let text = ''
  for await (const piece of writeParts(batches, format, () => {})) text += piece
  return text
}

/** In batches of two. */
async function* values(...parts: StreamPart[]): AsyncGenerator<readonly StreamPart[]> {
  for (let at = 0; at < parts.length; at += 2) yield parts.slice(at, at + 2)
}

async function* failing(error: unknown): AsyncGenerator<readonly StreamPart[]> {
  yield [{ data: 1 }]
  throw error
}

describe('writeParts', () => {
  it.each(WRITTEN_STREAMS)('C-59 AURI-8-09 writes $name', async ({ parts, events, lines }) => {
    expect(await write(values(...parts), EVENT_STREAM)).toBe(events)
    expect(await write(values(...parts), NDJSON)).toBe(lines)
  })

  it('does not allow names and ids to inject lines', async () => {
    const text = await write(
      values({ data: 'a\nb', event: 'x\ndata: forged', id: '1\r\n\r\ndata: forged' }),
      EVENT_STREAM,
    )
    expect(text).toBe('id: 1    data: forged\nevent: x data: forged\ndata: "a\\nb"\n\nevent: end\ndata: {}\n\n')
  })

  it('sends the end mark only if the stream is complete', async () => {
    expect(await write(values(), EVENT_STREAM)).toBe('event: end\ndata: {}\n\n')
    expect(await write(failing(new DirectoryError('timeout', 'too late')), EVENT_STREAM)).not.toContain('event: end')
    expect(await write(failing(new DirectoryError('timeout', 'too late')), NDJSON)).toBe(
      '1\n{"error":{"code":"Timeout","message":"too late"}}\n',
    )
  })

  it('does not reveal internal errors', async () => {
    const text = await write(failing(new TypeError('x is undefined in secret.ts')), NDJSON)
    expect(text).toBe('1\n{"error":{"code":"InternalError","message":"the directory failed"}}\n')
  })
})

describe('heartbeats', () => {
  it('are sent while the source is silent, without losing or reordering items', async () => {
    let send: (value: number) => void = () => {}
    async function* slow(): AsyncGenerator<number> {
      for (let i = 0; i < 3; i++)
        yield await new Promise<number>((resolve) => {
          send = resolve
        })
    }
    const seen: (number | typeof SILENCE)[] = []
    let next = 0
    for await (const item of heartbeats(slow(), 5)) {
      seen.push(item)
      if (item === SILENCE && seen.at(-2) === SILENCE) send(next++)
    }
    expect(seen.filter((item) => item !== SILENCE)).toEqual([0, 1, 2])
    expect(seen.filter((item) => item === SILENCE).length).toBeGreaterThanOrEqual(6)
  })

  it('close the source when the reader stops, even if the source never yields', async () => {
    let ended = false
    const source: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          ended = true
          return { done: true, value: undefined }
        },
      }),
    }
    for await (const item of heartbeats(source, 5)) if (item === SILENCE) break
    expect(ended).toBe(true)
  })

  it('rethrow an error of the source', async () => {
    const read = async () => {
      for await (const _ of heartbeats(failing(new Error('broke')), 1000));
    }
    await expect(read()).rejects.toThrow('broke')
  })
})
