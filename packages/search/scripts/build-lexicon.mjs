// Compiles the lexicon: the words of each language, with their stems, to a table that is read in a millisecond. Does
// nothing if neither the lexicon nor the code that reads it has changed. Needs what tsc has built.
import { mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileLanguage } from '../dist/lexicon/lexicon.js'
import { listLanguages, vocabularyFile } from '../dist/lexicon/lexicon-files.js'

const mtimeOf = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

const sources = ['../lexicon', '../dist/lexicon', '../dist/words'].flatMap((name) => {
  const folder = fileURLToPath(new URL(name, import.meta.url))
  return readdirSync(folder).map((file) => join(folder, file))
})
const changed = Math.max(...sources.map(mtimeOf))

for (const language of listLanguages()) {
  const path = vocabularyFile(language)
  if (mtimeOf(path) > changed) continue
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(`${path}.new`, compileLanguage(language))
  renameSync(`${path}.new`, path)
}
