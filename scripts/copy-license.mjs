// `prepack` of every package: npm packs only what lies in the package's own folder, and the licence has one source.
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './tree.mjs'

for (const name of ['LICENSE', 'NOTICE']) copyFileSync(join(ROOT, name), join(process.cwd(), name))
