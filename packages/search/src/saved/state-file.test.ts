import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readState, StateFileError, writeState } from './state-file.js'

const STATE = {
  words: 'alpha\n\nbeta',
  counts: Uint32Array.of(1, 2, 4_000_000_000),
  nested: { lengths: Float32Array.of(0.5, -1), empty: new Uint8Array(0), list: [Int32Array.of(-7), 'x', 3] },
  large: new Uint16Array(3_000_000).fill(513),
  // Not the whole of its memory.
  part: new Float64Array([1, 2, 3, 4]).subarray(1, 3),
}
const { large: _, ...OTHERS } = STATE
const never = (): boolean => false

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchboard-state-'))
  path = join(folder, 'index.bin')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('writeState', () => {
  it('writes plain data with typed arrays that readState returns, to a file that nobody else can read', async () => {
    expect(await writeState(path, 'a', STATE, never)).toBe(true)
    const { large, ...others } = readState<typeof STATE>(path, 'a')
    expect(others).toEqual({ ...OTHERS, part: Float64Array.of(2, 3) })
    expect(Buffer.compare(Buffer.from(large.buffer), Buffer.from(STATE.large.buffer))).toBe(0)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('replaces the file as a whole, or leaves it as it was', async () => {
    await writeState(path, 'a', { first: true }, never)
    let steps = 0
    expect(await writeState(path, 'a', STATE, () => ++steps > 4)).toBe(false)
    expect(readState(path, 'a')).toEqual({ first: true })
    await writeState(path, 'a', { second: true }, never)
    expect(readState(path, 'a')).toEqual({ second: true })
    expect(readdirSync(folder)).toEqual(['index.bin'])
  })
})

describe('readState', () => {
  it('rejects a file with another identity', async () => {
    await writeState(path, 'a', STATE, never)
    expect(() => readState(path, 'b')).toThrow(
      new StateFileError('it was saved by another version, or with other words or models'),
    )
  })

  it('rejects a file that is cut off at any place', async () => {
    await writeState(path, 'a', { words: 'alpha', counts: Uint32Array.of(1, 2, 3) }, never)
    const { size } = statSync(path)
    for (let length = size - 1; length >= 0; length--) {
      truncateSync(path, length)
      expect(() => readState(path, 'a')).toThrow(StateFileError)
    }
  })

  it('rejects a file in which any bit is flipped, or that is longer', async () => {
    await writeState(path, 'a', { words: 'alpha', counts: Uint32Array.of(1, 2, 3) }, never)
    const whole = readFileSync(path)
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] ?? 0) ^ (1 << (at % 8))
      writeFileSync(path, damaged)
      expect(() => readState(path, 'a')).toThrow(StateFileError)
    }
    writeFileSync(path, Buffer.concat([whole, Buffer.from('x')]))
    expect(() => readState(path, 'a')).toThrow(StateFileError)
  })

  it('fails like the file system if there is no file', () => {
    expect(() => readState(path, 'a')).toThrow(expect.objectContaining({ code: 'ENOENT' }))
  })
})
