import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { SCAN_SOURCE, SCAN_WASM } from './scan-wasm.js'

it('was made of the source as it is now', () => {
  const source = readFileSync(new URL('../../scripts/build-wasm/scan.ts', import.meta.url))
  expect(createHash('sha256').update(source).digest('hex')).toBe(SCAN_SOURCE)
})

it('is small enough for any browser to compile it at once', () => {
  expect(Buffer.from(SCAN_WASM, 'base64').length).toBeLessThan(4096)
})
