// Writes the pages that are generated from the code: npm run docs:references. A test fails if one is not current.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from '../tree.mjs'
import { toCliReference } from './references/cli.mjs'
import { toConfigReference } from './references/config.mjs'
import { toConformance } from './references/conformance.mjs'

/** What generates each page. */
export const REFERENCES = {
  'docs/conformance.md': toConformance,
  'docs/reference/cli.md': toCliReference,
  'docs/reference/config.md': toConfigReference,
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  for (const [path, generate] of Object.entries(REFERENCES)) writeFileSync(join(ROOT, path), generate())
