import { describe, expect, it } from 'vitest'
import { JSON_BODY_VECTORS } from '../../test-vectors/call/json-body.js'
import { parseJsonBody, readBytes } from './body.js'

const tooLarge = (): Error => new Error('too large')

/** Chunks of the given sizes; `state` says how many were read and whether the source was closed. */
function source(...sizes: readonly number[]) {
  const state = { read: 0, isClosed: false }
  async function* chunks(): AsyncGenerator<Uint8Array, void> {
    try {
      for (const size of sizes) {
        state.read++
        yield new Uint8Array(size).fill(state.read)
      }
    } finally {
      state.isClosed = true
    }
  }
  return { state, chunks: chunks() }
}

describe('readBytes', () => {
  it('joins the chunks', async () => {
    expect([...(await readBytes(source(2, 0, 1).chunks, 10, tooLarge))]).toEqual([1, 1, 3])
    expect([...(await readBytes(source(2).chunks, 10, tooLarge))]).toEqual([1, 1])
    expect([...(await readBytes(source().chunks, 10, tooLarge))]).toEqual([])
  })

  it('reads a body of exactly the limit', async () => {
    expect((await readBytes(source(6, 4).chunks, 10, tooLarge)).byteLength).toBe(10)
  })

  it('rejects a longer body as soon as the limit is exceeded, and closes its source', async () => {
    const { state, chunks } = source(6, 5, 6, 6)
    await expect(readBytes(chunks, 10, tooLarge)).rejects.toThrow('too large')
    expect(state).toEqual({ read: 2, isClosed: true })
  })
})

describe('parseJsonBody', () => {
  it.each(JSON_BODY_VECTORS)('$title', ({ bytes, value }) => {
    if (value === undefined) expect(() => parseJsonBody(bytes)).toThrow(/^the body is not valid (UTF-8|JSON)/)
    else expect(parseJsonBody(bytes)).toEqual(value)
  })
})
