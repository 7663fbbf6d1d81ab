// Requirements of the drafts (spec/requirements.md) and the ids at the start of a test's name.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './tree.mjs'

/** Draft, section, number: AD-4.1-02, AIDIP00-5.2-11, AURI-A-01. Loose, so that a typo (AD-4.1-2) is reported as unknown. */
const ID = /^(?:AIDIP|AIDIP00|AURI|PROF|AD)-[^\s-]+-\d+$/

/** Ids within a text. */
export const ID_IN_TEXT = /\b(?:AIDIP|AIDIP00|AURI|PROF|AD)-[A-Za-z0-9.]+-\d+\b/g

const readSpec = (name) => readFileSync(join(ROOT, 'spec', name), 'utf8')

/** Rows of a Markdown table as cells; a `|` of the text itself is written `\|`. */
const rows = (text) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split(/(?<!\\)\|/).slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))

/** All requirements, in the order of the file: `{ id, level, text }`. */
export const readRequirementRows = () =>
  rows(readSpec('requirements.md'))
    .filter(([id]) => ID.test(id))
    .map(([id, level, , text]) => ({ id, level, text }))

/** Ids of all requirements. */
export const readRequirements = () => readRequirementRows().map(({ id }) => id)

/** Requirements that cannot be tested here: id → reason. */
export const readUntestable = () =>
  new Map(
    rows(readSpec('untestable.md'))
      .filter(([id]) => id !== 'id' && !/^-+$/.test(id))
      .map(([id, reason]) => [id, reason]),
  )

/** The section of a requirement: AD-4.1 of AD-4.1-02. */
export const sectionOf = (id) => id.slice(0, id.lastIndexOf('-'))

/** Ids of test vectors. Some tests are named after them; they look like requirements, but are not. */
const readVectorIds = () => new Set(JSON.parse(readSpec('vectors.json')).map(({ id }) => id))

/** Creates a function that reads the ids at the start of a test's title, separated by spaces or commas. */
export function createIdReader(known) {
  const vectors = readVectorIds()
  return (name) => {
    // it.each puts quotes around the strings that it inserts for `$name`.
    const words = name
      .trim()
      .split(/[\s,:'"]+/)
      .filter((word) => word !== '')
    const end = words.findIndex((word) => !ID.test(word))
    return words.slice(0, end < 0 ? words.length : end).filter((id) => known.has(id) || !vectors.has(id))
  }
}
