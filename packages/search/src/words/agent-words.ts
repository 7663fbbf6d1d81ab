import { grown } from './grown.js'
import { type Sequence, TermReader } from './term-reader.js'
import type { Terms } from './terms.js'
import { FIELDS, type Field, type TextFields } from './text-fields.js'

/** What a word counts by the place where it stands (BM25F). In halves, so that a posting can hold the sum. */
const FIELD_WEIGHT: Readonly<Record<Field, number>> = { title: 3, description: 1, schema: 0.5, example: 1 }
/** A word said more often than this in one place is not heard again: repeating is stuffing. */
const MAX_REPEATS = 5
/** Tokens of one place that are indexed; more only pads. */
const MAX_FIELD_TOKENS = 1000

/** Texts repeat themselves: so many chunks are 98 in 100 of what agents say, and their names say less. */
const KNOWN_IN_TEXTS = 2 ** 16
const KNOWN_IN_NAMES = 2 ** 14

/** Half-points of weighted occurrences take so many bits of a posting. */
export const POINT_BITS = 5
export const MAX_POINTS = 2 ** POINT_BITS - 1
/** Sequences hold numbers of terms above the marks that begin a text, one mark for each place. */
export const FIRST_TERM = FIELDS.length

/** An agent's words as they are indexed; valid until the next agent is read. */
export interface AgentWords {
  /** Terms in order, with a mark where a text begins. */
  readonly sequence: Uint32Array
  /** Each term once. */
  readonly terms: readonly number[]
  /** Half-points of a term. */
  points(term: number): number
  /** Tokens, weighted by place. */
  readonly length: number
}

/** Reads the words of one agent after the other into the same memory. */
export interface AgentWordsReader {
  readonly bytes: number
  read(fields: TextFields): AgentWords
}

export function createAgentWordsReader(dictionary: Terms): AgentWordsReader {
  const names = new TermReader(dictionary, KNOWN_IN_NAMES, { keepStopWords: true })
  const texts = new TermReader(dictionary, KNOWN_IN_TEXTS)
  const sequence: Sequence = { terms: new Uint32Array(FIELDS.length * MAX_FIELD_TOKENS), filled: 0, end: 0 }
  const terms: number[] = []
  /** Of the agent at hand, by term; zero for all others. */
  let points = new Uint8Array(256)
  /** Of the place at hand, by term; zero for all others. */
  let repeats = new Uint8Array(256)

  /** Counts the terms of a place, from a position of the sequence on; returns how many there are. */
  const count = (from: number, weight: number): number => {
    repeats = grown(repeats, dictionary.end)
    points = grown(points, dictionary.end)
    let tokens = 0
    for (let i = from; i < sequence.filled; i++) {
      const term = sequence.terms[i] ?? 0
      if (term < FIRST_TERM) continue
      tokens++
      const before = repeats[term] ?? 0
      if (before === MAX_REPEATS) continue
      repeats[term] = before + 1
      const sum = points[term] ?? 0
      if (sum === 0) terms.push(term)
      points[term] = Math.min(sum + 2 * weight, MAX_POINTS)
    }
    for (let i = from; i < sequence.filled; i++) repeats[sequence.terms[i] ?? 0] = 0
    return tokens
  }

  const read = (fields: TextFields): AgentWords => {
    for (const term of terms) points[term] = 0
    terms.length = 0
    sequence.filled = 0
    let length = 0
    for (const [mark, field] of FIELDS.entries()) {
      const start = sequence.filled
      sequence.end = start + MAX_FIELD_TOKENS
      for (const text of fields[field]) {
        if (sequence.filled === sequence.end) break
        // The first text of the title is the name.
        const reader = sequence.filled === 0 && field === 'title' ? names : texts
        sequence.terms[sequence.filled++] = mark
        reader.read(text, sequence)
      }
      length += FIELD_WEIGHT[field] * count(start, FIELD_WEIGHT[field])
    }
    return {
      sequence: sequence.terms.subarray(0, sequence.filled),
      terms,
      points: (term) => points[term] ?? 0,
      length,
    }
  }

  return {
    get bytes() {
      return names.bytes + texts.bytes + sequence.terms.byteLength + points.byteLength + repeats.byteLength
    },
    read,
  }
}
