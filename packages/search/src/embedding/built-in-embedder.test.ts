import { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createBuiltInEmbedder } from './built-in-embedder.js'
import type { Embedder } from './embedder.js'

const children: ChildProcess[] = []
const onChildProcess = (message: unknown): void => {
  if (typeof message !== 'object' || message === null || !('process' in message)) return
  if (message.process instanceof ChildProcess) children.push(message.process)
}

const cosine = (a: Float32Array | undefined, b: Float32Array | undefined): number =>
  a?.reduce((sum, value, place) => sum + value * (b?.[place] ?? Number.NaN), 0) ?? Number.NaN

const LONG = 'Plans a journey by train, finds the cheapest ticket and books a seat. '.repeat(30)

describe('createBuiltInEmbedder', () => {
  let embedder: Embedder
  beforeAll(async () => {
    embedder = await createBuiltInEmbedder()
  })
  afterAll(() => embedder.close())

  it('has an id that names the model and its precision', () => {
    expect(embedder.id).toMatch(/^use-lite-en-int8@[0-9a-f]{12}\/1$/)
    expect(embedder.dimensions).toBe(512)
  })

  it.each([
    ['How do I get to the airport?', 'directions to the airport', 'recipes for chocolate cake'],
    ['translate a contract into Chinese', 'language translation of documents', 'weather forecast for the weekend'],
    ['Will I need an umbrella tomorrow?', 'weather forecast and rain alerts', 'buys and sells shares'],
    ['I want to lose weight', 'a fitness coach that plans diets', 'generates invoices as PDF'],
  ])('rates %j more similar to %j than to %j', async (text, similar, other) => {
    const [a, b, c] = await embedder.embed([text, similar, other])
    expect(cosine(a, b)).toBeGreaterThan(cosine(a, c) + 0.1)
  })

  it('returns unit vectors for any text, the same each time', async () => {
    const texts = [
      '',
      ' \n\t',
      'word',
      '東京の天気',
      '🙂🙃',
      '\u0000\ud800',
      'مرحبا',
      'a'.repeat(10_000),
      LONG.repeat(50),
    ]
    const vectors = await embedder.embed(texts)
    for (const vector of vectors) {
      expect(vector).toHaveLength(512)
      expect(cosine(vector, vector)).toBeCloseTo(1, 5)
    }
    expect(await embedder.embed(texts)).toEqual(vectors)
  })

  it('reads at most 128 tokens', async () => {
    const [cut, longer] = await embedder.embed(['word '.repeat(128), 'word '.repeat(2000)])
    expect(longer).toEqual(cut)
  })

  it('normalises full-width and decomposed characters', async () => {
    const [plain, wide, composed, decomposed] = await embedder.embed(['Hello', 'Ｈｅｌｌｏ', 'caf\u00e9', 'cafe\u0301'])
    expect(wide).toEqual(plain)
    expect(decomposed).toEqual(composed)
  })

  it('returns the same vectors in batches, one by one and in concurrent calls', async () => {
    const texts = Array.from({ length: 40 }, (_, number) => `agent number ${number} ${'speaks '.repeat(number % 7)}`)
    const together = await embedder.embed(texts)
    const atOnce = await Promise.all(texts.map((text) => embedder.embed([text])))
    expect(atOnce.flat()).toEqual(together)
    const [alone] = await embedder.embed([texts[17] ?? ''])
    expect(alone).toEqual(together[17])
  })

  it('returns vectors with their own buffers', async () => {
    const [vector] = await embedder.embed(['word'])
    expect(vector?.buffer.byteLength).toBe(512 * 4)
  })

  it('returns an empty list for an empty list', async () => {
    expect(await embedder.embed([])).toEqual([])
  })
})

describe('the child process of the built-in embedder', () => {
  beforeAll(() => subscribe('child_process', onChildProcess))
  afterAll(() => {
    unsubscribe('child_process', onChildProcess)
  })

  it('is restarted after a crash, which rejects the current request', async () => {
    const embedder = await createBuiltInEmbedder()
    const [before] = await embedder.embed(['word'])
    for (let crash = 0; crash < 2; crash++) {
      const interrupted = embedder.embed(Array(50).fill(LONG))
      children.at(-1)?.kill('SIGKILL')
      await expect(interrupted).rejects.toMatchObject({ code: 'failed', message: expect.stringContaining('SIGKILL') })
      expect(await embedder.embed(['word'])).toEqual([before])
    }
    await embedder.close()
  })

  it('is killed if it is frozen, which rejects the current requests, and is restarted', async () => {
    const embedder = await createBuiltInEmbedder({ frozenMs: 1000 })
    const [before] = await embedder.embed(['word'])
    const child = children.at(-1)
    child?.kill('SIGSTOP')
    const both = await Promise.allSettled([embedder.embed(['one']), embedder.embed(Array(50).fill(LONG))])
    for (const each of both) expect(each).toMatchObject({ status: 'rejected', reason: { code: 'timeout' } })
    expect(child?.signalCode).toBe('SIGKILL')
    await expect.poll(() => children.at(-1) !== child).toBe(true)
    expect(await embedder.embed(['word'])).toEqual([before])
    await embedder.close()
  })

  it('is not killed while it works, however long that takes in total', async () => {
    const embedder = await createBuiltInEmbedder({ frozenMs: 1000 })
    const child = children.at(-1)
    const end = performance.now() + 1500
    while (performance.now() < end) await embedder.embed(Array(20).fill(LONG))
    expect(child?.exitCode).toBe(null)
    await embedder.close()
  })

  it('is restarted only after a pause if it fails again before its first response', async () => {
    const embedder = await createBuiltInEmbedder()
    for (let crash = 0; crash < 2; crash++) {
      const interrupted = embedder.embed(['word'])
      children.at(-1)?.kill('SIGKILL')
      await expect(interrupted).rejects.toMatchObject({ code: /failed|model_unavailable/ })
    }
    const count = children.length
    await expect(embedder.embed(['word'])).rejects.toMatchObject({
      message: expect.stringContaining('restarted later'),
    })
    expect(children.length).toBe(count)
    await expect.poll(() => embedder.embed(['word']).catch(() => []), { timeout: 10_000 }).toHaveLength(1)
    await embedder.close()
  })

  it('is killed if it is frozen when the embedder is closed, or before the model is loaded', async () => {
    const embedder = await createBuiltInEmbedder()
    children.at(-1)?.kill('SIGSTOP')
    await embedder.close()
    expect(children.at(-1)?.signalCode).toBe('SIGKILL')

    const aborting = new AbortController()
    const opening = createBuiltInEmbedder({ signal: aborting.signal })
    await expect.poll(() => children.at(-1)?.signalCode).toBe(null)
    children.at(-1)?.kill('SIGSTOP')
    aborting.abort()
    await expect(opening).rejects.toMatchObject({ code: 'model_unavailable' })
  })

  it('exits when the embedder is closed, which rejects waiting requests', async () => {
    const embedder = await createBuiltInEmbedder()
    const child = children.at(-1)
    const interrupted = embedder.embed(Array(500).fill(LONG))
    const closing = embedder.close()
    await expect(interrupted).rejects.toMatchObject({ code: 'closed' })
    await closing
    expect(child?.exitCode).toBe(0)
    await expect(embedder.embed(['word'])).rejects.toMatchObject({ code: 'closed' })
    await embedder.close()
  })

  it('ignores signals, which are left to its parent', async () => {
    const embedder = await createBuiltInEmbedder()
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) children.at(-1)?.kill(signal)
    expect(await embedder.embed(['word'])).toHaveLength(1)
    await embedder.close()
  })

  it('can run several times, each with its own queue limit', async () => {
    const both = await Promise.all([createBuiltInEmbedder(), createBuiltInEmbedder({ maxQueued: 1 })])
    const [a, b] = await Promise.all(both.map((embedder) => embedder.embed(['word'])))
    expect(a).toEqual(b)
    await expect(both[1].embed(['one', 'two'])).rejects.toMatchObject({ code: 'overloaded' })
    await Promise.all(both.map((embedder) => embedder.close()))
  })
})
