#!/usr/bin/env node
// npm links only files that exist when it installs, and in a fresh clone the build comes later.
import { existsSync } from 'node:fs'

const program = new URL('../dist/main.js', import.meta.url)
if (existsSync(program)) await import(program.href)
else {
  process.stderr.write('switchboard: not built yet; run npm start or npm run build in the clone\n')
  process.exitCode = 2
}
