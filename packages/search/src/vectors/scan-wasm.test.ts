import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { SCAN_SOURCE, SCAN_WASM } from './scan-wasm.js'

it('is compiled from the current source', () => {
  const source = readFileSync(new URL('../../scripts/build-wasm/scan.ts', import.meta.url))
  expect(createHash('sha256').update(source).digest('hex')).toBe(SCAN_SOURCE)
})

it('is small enough for browsers to compile synchronously', () => {
  expect(Buffer.from(SCAN_WASM, 'base64').length).toBeLessThan(4096)
})
