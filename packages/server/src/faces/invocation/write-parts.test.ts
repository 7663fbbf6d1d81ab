import { DirectoryError } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import type { StreamPart } from '../../services/calls/request/invocation.js'
import { heartbeats, SILENCE } from './heartbeats.js'
import { EVENTS, LINES, type StreamForm, writeParts } from './write-parts.js'

async function write(parts: AsyncIterable<StreamPart>, form: StreamForm): Promise<string> {
  let text = ''
  for await (const piece of writeParts(parts, form, () => {})) text += piece
  return text
}

async function* values(...parts: StreamPart[]): AsyncGenerator<StreamPart> {
  yield* parts
}

async function* failing(error: unknown): AsyncGenerator<StreamPart> {
  yield { data: 1 }
  throw error
}

describe('writeParts', () => {
  it('gives names and ids no way to make lines of their own', async () => {
    const text = await write(values({ data: 'a\nb', event: 'x\ndata: forged', id: '1\r\n\r\ndata: forged' }), EVENTS)
    expect(text).toBe('id: 1    data: forged\nevent: x data: forged\ndata: "a\\nb"\n\nevent: end\ndata: {}\n\n')
  })

  it('says that a stream is whole only if it is', async () => {
    expect(await write(values(), EVENTS)).toBe('event: end\ndata: {}\n\n')
    expect(await write(failing(new DirectoryError('timeout', 'too late')), EVENTS)).not.toContain('event: end')
    expect(await write(failing(new DirectoryError('timeout', 'too late')), LINES)).toBe(
      '1\n{"error":{"code":"Timeout","message":"too late"}}\n',
    )
  })

  it('tells nothing of a mistake of ours', async () => {
    const text = await write(failing(new TypeError('x is undefined in secret.ts')), LINES)
    expect(text).toBe('1\n{"error":{"code":"InternalError","message":"the directory failed"}}\n')
  })
})

describe('heartbeats', () => {
  it('are there while nothing comes, and no item is lost or moved', async () => {
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

  it('end the source when nobody reads any more, though it waits for something that does not come', async () => {
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

  it('pass a failure of the source on', async () => {
    const read = async () => {
      for await (const _ of heartbeats(failing(new Error('broke')), 1000));
    }
    await expect(read()).rejects.toThrow('broke')
  })
})
