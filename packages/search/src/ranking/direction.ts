import { type AgentRecord, IMPLIED_OPERATION } from '@switchboard/protocol'
import { isStopWord } from '../words/stop-words.js'
import { CLAUSE_BORDERS, stem } from '../words/tokenize.js'
import type { Query } from './read-query.js'

/** Words, without stop words, next to the marker of a request that are compared. */
const MAX_TERMS = 3
/** A request with up to this many words, without stop words, may be a bare "X to Y". */
const SHORT_REQUEST = 6
/** Words, without stop words, that are read on each side of a marker in an agent's text: "PDF, DOCX and HTML files to …". */
const WINDOW = 6
/** The same in characters. */
const MAX_SIDE_LENGTH = 100
/** Of longer texts only the beginning is read, in characters. */
const MAX_TEXT_LENGTH = 1000
/** Characters of operations, capabilities and examples that are read. */
const MAX_RECORD_LENGTH = 2000
/** Conversions of a request that are compared. */
const MAX_CONVERSIONS = 3

/**
 * Markers: what stands between a source and its target. Group 1: both directions; group 2: the target comes first, as in
 * "a table from a PDF"; group 3: often followed by a purpose, a place or a role. The digit is that of "pdf2docx".
 */
const MARKERS =
  /\b(?:(between|to and from|from and to)|(from)|into|(to|(?<!such |well |as )as(?! well)))\b|([↔⇄]|<->)|→|➔|[-=]>|(?<=[a-z])2(?=[a-z])/gi
/** After one of these verbs, "to" and "as" are followed by what something becomes. */
const CONVERTING =
  /\b(?:chang|convert|decod|encod|export|import|migrat|mov|pars|port|render|rewrit|sav|switch|transcrib|transfer|transform|translat|transpil|turn)/i
const SENTENCE_BORDER = /[.!?;:](?=\s|$)|\n/
const WORDS = /[\p{L}\p{N}]+/gu

/** A stem, and the beginning that all words with this stem have. */
interface Term {
  readonly stem: string
  readonly beginning: string
}

/** "Turn a PDF invoice into a spreadsheet": "PDF" and "invoice" become "spreadsheet". */
interface Conversion {
  readonly source: readonly Term[]
  readonly target: readonly Term[]
}

type Direction = 'forward' | 'backward' | 'both'

interface Marker {
  readonly direction: Direction
  /** Whether it often marks something else. */
  readonly isVague: boolean
  /** What stands before it and after it, up to the next marker or border. */
  readonly before: string
  readonly after: string
  /** The directions of the markers next to it, if no border is between them. */
  readonly previous: Direction | undefined
  readonly next: Direction | undefined
}

/**
 * How far an agent says that it converts in the direction of a request: 1 if a text has all words of source and target in
 * their order, less than 0 if they only occur in the opposite one, 0 if neither.
 */
export type DirectionFit = (record: AgentRecord) => number

/**
 * Reads which conversions an English request names: "convert X to Y", "X into Y", "from X to Y", "extract Y from X".
 *
 * @returns undefined if it names none
 */
export function createDirectionFit({ text, language }: Pick<Query, 'text' | 'language'>): DirectionFit | undefined {
  if (language !== undefined && language !== 'en') return undefined
  const isShort = wordsOf(text).length <= SHORT_REQUEST
  const found = matchesOf(text)
  const conversions = found
    .flatMap((_, i) => conversionAt(markerAt(text, found, i, CLAUSE_BORDERS), isShort))
    .slice(0, MAX_CONVERSIONS)
  if (conversions.length === 0) return undefined
  const hasSource = patternOf(conversions.map(({ source }) => source))
  const hasTarget = patternOf(conversions.map(({ target }) => target))
  const isAbout = (words: string): boolean => hasSource.test(words) && hasTarget.test(words)
  return (record) => {
    let [same, opposite] = [0, 0]
    for (const each of textsOf(record)) {
      if (!isAbout(each)) continue
      for (const [from, to] of pairsOf(each, isAbout)) {
        for (const { source, target } of conversions) {
          same = Math.max(same, share(source, from) * share(target, to))
          opposite = Math.max(opposite, share(source, to) * share(target, from))
        }
      }
    }
    return opposite > same ? same - opposite : same
  }
}

/** The words before and after each marker of a text, sources first. */
function* pairsOf(written: string, isAbout: (words: string) => boolean): Generator<readonly [string[], string[]]> {
  const text = written.includes(' ') ? written : wordsApart(written)
  const found = matchesOf(text)
  for (const [i, { index }] of found.entries()) {
    if (!isAbout(text.slice(Math.max(0, index - MAX_SIDE_LENGTH), index + MAX_SIDE_LENGTH))) continue
    const { direction, before, after, previous } = markerAt(text, found, i, SENTENCE_BORDER)
    // In "reads invoices from PDFs to Excel", "invoices" is a source of "Excel" too.
    const earlier = previous === 'backward' ? markerAt(text, found, i - 1, SENTENCE_BORDER).before : ''
    const [first, second] = [wordsOf(`${earlier} ${before}`).slice(-WINDOW), wordsOf(after).slice(0, WINDOW)]
    if (direction === 'both')
      yield [
        [...first, ...second],
        [...first, ...second],
      ]
    else yield direction === 'forward' ? [first, second] : [second, first]
  }
}

function conversionAt({ direction, isVague, before, after, previous, next }: Marker, isShort: boolean): Conversion[] {
  // In "from X to Y" the second marker says it all.
  if (direction === 'both' || (direction === 'backward' && next === 'forward')) return []
  const isRange = previous === 'backward'
  if (isVague && !isRange && !isShort && !CONVERTING.test(before)) return []
  const words = wordsOf(before)
  // The first of several words is the verb, except in "from X to Y".
  const nouns = words.length > 1 && !isRange ? words.slice(1) : words
  const first = nouns.slice(-MAX_TERMS).map(termOf)
  const second = wordsOf(after).slice(0, MAX_TERMS).map(termOf)
  if (first.length === 0 || second.length === 0) return []
  return [direction === 'forward' ? { source: first, target: second } : { source: second, target: first }]
}

const matchesOf = (text: string): RegExpExecArray[] => [...text.matchAll(MARKERS)]

const directionOf = (match: RegExpExecArray | undefined): Direction | undefined =>
  match && (match[1] || match[4] ? 'both' : match[2] ? 'backward' : 'forward')

/** The marker at a position of `found`. */
function markerAt(text: string, found: readonly RegExpExecArray[], at: number, border: RegExp): Marker {
  const [previous, match, next] = [found[at - 1], found[at], found[at + 1]]
  const start = match?.index ?? 0
  const end = start + (match?.[0].length ?? 0)
  const from = previous ? previous.index + previous[0].length : 0
  const before = text.slice(Math.max(from, start - MAX_SIDE_LENGTH), start).split(border)
  const after = text.slice(end, Math.min(next?.index ?? text.length, end + MAX_SIDE_LENGTH)).split(border)
  return {
    direction: directionOf(match) ?? 'forward',
    isVague: match?.[3] !== undefined,
    before: before.at(-1) ?? '',
    after: after[0] ?? '',
    previous: before.length === 1 ? directionOf(previous) : undefined,
    next: after.length === 1 ? directionOf(next) : undefined,
  }
}

/** Lower-case words without stop words. */
const wordsOf = (text: string): string[] => (text.toLowerCase().match(WORDS) ?? []).filter((word) => !isStopWord(word))

function termOf(word: string): Term {
  const stemmed = stem(word)
  let length = 0
  while (length < stemmed.length && stemmed[length] === word[length]) length++
  return { stem: stemmed, beginning: stemmed.slice(0, length) }
}

/** Share of the terms that are among the words. */
const share = (terms: readonly Term[], words: readonly string[]): number =>
  terms.filter((term) => words.some((word) => word.startsWith(term.beginning) && stem(word) === term.stem)).length /
  terms.length

/** Rules out most texts before they are split into words. */
const patternOf = (terms: readonly (readonly Term[])[]): RegExp =>
  new RegExp(
    terms
      .flat()
      .map(({ beginning }) => beginning)
      .join('|'),
    'i',
  )

/** The texts of a record that say what the agent does, each up to `MAX_TEXT_LENGTH` and all up to `MAX_RECORD_LENGTH`. */
function* textsOf({ name, description, tags, capabilities, operations, examples }: AgentRecord): Generator<string> {
  yield name
  yield description.slice(0, MAX_TEXT_LENGTH)
  yield* tags
  let left = MAX_RECORD_LENGTH
  for (const part of [...operations, ...capabilities]) {
    if (part.name !== IMPLIED_OPERATION) yield part.name
    if (part.description !== undefined) yield part.description.slice(0, MAX_TEXT_LENGTH)
    left -= part.name.length + (part.description?.length ?? 0)
    if (left < 0) return
  }
  for (const { text } of examples) {
    if (left < 0) return
    yield text.slice(0, MAX_TEXT_LENGTH)
    left -= text.length
  }
}

/** "convertPdf_toWord" as words. */
const wordsApart = (name: string): string => name.replace(/([a-z0-9])(?=[A-Z])|_/g, '$1 ')
