import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { SCAN_WASM } from './scan-wasm.js'

it('is what the compiler makes of its source', async () => {
  const script = fileURLToPath(new URL('../../scripts/build-wasm.mjs', import.meta.url))
  await promisify(execFile)(process.execPath, [script, '--check'])
}, 60_000)

it('is small enough for any browser to compile it at once', () => {
  expect(Buffer.from(SCAN_WASM, 'base64').length).toBeLessThan(4096)
})
