import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { LexiconFile } from '../lexicon/lexicon.js'

/** The built code that makes an index from records, and the data that it uses. */
const PARTS = [
  fileURLToPath(new URL('../../dist', import.meta.url)),
  fileURLToPath(new URL('../../static-model', import.meta.url)),
  dirname(fileURLToPath(import.meta.resolve('@switchboard/protocol'))),
]
const IS_CODE_OR_DATA = /\.(?:js|bin|txt|json)$/

let ownDigest: string | undefined

/**
 * Names everything besides the agents that an index depends on: the code, the models, the words. An index that was saved
 * with another identity is of no use.
 */
export function stateIdentity(options: { isStatic: boolean; lexicon: readonly LexiconFile[] }): string {
  ownDigest ??= digestOf(PARTS.flatMap(listFiles))
  const { isStatic, lexicon } = options
  const languages = lexicon.map(({ language }) => language)
  return JSON.stringify({ code: ownDigest, isStatic, languages, words: digestOf(lexicon.map(({ path }) => path)) })
}

const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => IS_CODE_OR_DATA.test(name))
    .sort()
    .map((name) => join(folder, name))

function digestOf(files: readonly string[]): string {
  const digest = createHash('sha256')
  for (const file of files) {
    const content = readFileSync(file)
    digest.update(`${content.length}\n`).update(content)
  }
  return digest.digest('base64url')
}
