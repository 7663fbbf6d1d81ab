import { DirectoryError } from '@switchboard/protocol'
import { describe, expect, it } from 'vitest'
import { type ItemResult, runBatch, toBatchAnswer } from './run-batch.js'

const ok = (value: number): ItemResult => ({ ok: true, value, fits: true })
const bad = (code: 'timeout' | 'forbidden'): ItemResult => ({ ok: false, error: new DirectoryError(code, 'no') })

describe('runBatch', () => {
  it('has some under way at a time, never more, and keeps the order', async () => {
    let running = 0
    let most = 0
    const results = await runBatch(
      Array.from({ length: 50 }, (_, i) => i),
      async (i) => {
        most = Math.max(most, ++running)
        await new Promise((done) => setImmediate(done))
        running--
        return ok(i)
      },
    )
    expect(results).toEqual(Array.from({ length: 50 }, (_, i) => ok(i)))
    expect(most).toBe(8)
  })
})

describe('toBatchAnswer', () => {
  it('has the status that tells all', () => {
    expect(toBatchAnswer([]).status).toBe(200)
    expect(toBatchAnswer([ok(1), ok(2)])).toEqual({ status: 200, value: [1, 2] })
    expect(toBatchAnswer([ok(1), bad('timeout')]).status).toBe(207)
    expect(toBatchAnswer([bad('forbidden'), bad('timeout')])).toEqual({
      status: 403,
      value: [{ error: { code: 'Forbidden', message: 'no' } }, { error: { code: 'Timeout', message: 'no' } }],
    })
  })
})
