import { bitCount } from '../bit-count.js'
import { ensureCapacity } from '../ensure-capacity.js'
import { copyString } from '../words/analyzer.js'
import { ListStore, type ListStoreState } from '../words/list-store.js'
import { FIELDS, type TextFields } from '../words/text-fields.js'
import { BEYOND_ASCII, chunksOf, lettersOf } from '../words/tokenize.js'
import { editsBetween } from './edit-distance.js'

/** Shorter words have too many neighbours, and longer ones are identifiers. In letters. */
const LETTERS = { least: 3, most: 24 }
/** Words counted for each field; the word index ignores the others too. */
const MAX_FIELD_WORDS = 1000
/** From this length on a word with the same letters, one of which is in the wrong place, is one edit away: "wheater". */
const MOVED_LETTER_LENGTH = 6
const MOVED_LETTER_PENALTY = 0.3

/** A word of the vocabulary that is similar to a word as typed. */
export interface Neighbour {
  readonly word: string
  /** Number of agents that contain it. */
  readonly frequency: number
  /** Number of edits; 0 if only accents differ. */
  readonly distance: number
  /** How unlikely the slips are, 0 to 1 for each edit. */
  readonly penalty: number
}

/** Everything in a `Vocabulary`, to be saved. */
export interface VocabularyState {
  /** One line for each id; empty if it is free. */
  readonly words: string
  readonly frequencies: Uint32Array<ArrayBuffer>
  readonly agents: number
  readonly wordsOfAgents: ListStoreState
}

/** The words of all public agents as they are written, in lower case; the word index has only their stems. */
export interface Vocabulary {
  readonly size: number
  /** Valid until the next change. */
  readonly state: VocabularyState
  /** Number of agents that have words. */
  readonly agents: number
  /** Counts the words of an agent, instead of those that were counted for it before. */
  put(agent: number, fields: TextFields): void
  /** Counts one word in lower case. */
  addWord(word: string): void
  /** Sets the number of agents that contain a word in lower case; 0 removes it. Not together with `put`. */
  setWord(word: string, frequency: number): void
  /** Takes back what `put` has counted for the agent. */
  remove(agent: number): void
  /** Number of agents that contain a word in lower case. */
  frequencyOf(word: string): number
  /** The words at most `most` edits (0 to 2) away that at least `minFrequency` agents contain; not the word itself. */
  neighboursOf(word: string, most: number, minFrequency: number): Neighbour[]
  /** The `limit` most frequent words that begin with a prefix in lower case and that at least `minFrequency` agents contain. */
  startingWith(prefix: string, limit: number, minFrequency: number): string[]
}

/** Words with the same number of letters. Parallel arrays, because a search reads all of them. */
interface Bucket {
  ids: Uint32Array
  /** For each word the set of its letters, as bits. */
  signatures: Uint32Array
  size: number
}

const EMPTY: Bucket = { ids: new Uint32Array(0), signatures: new Uint32Array(0), size: 0 }

/**
 * Creates a vocabulary, with what was saved or empty. A search scans the words of about the same length by the sets of
 * their letters, and compares the few that remain: for 70,000 words that takes a twentieth of a millisecond, and a change
 * costs nothing.
 */
export function createVocabulary(saved?: VocabularyState): Vocabulary {
  const ids = new Map<string, number>()
  const words: string[] = []
  const freeIds: number[] = []
  /** For each agent the ids of its words. */
  const wordsOfAgents = new ListStore(saved?.wordsOfAgents)
  let agents = saved?.agents ?? 0
  let frequencies = new Uint32Array(256)
  /** For each word its position in the bucket. */
  let positions = new Uint32Array(256)
  const buckets = Array.from({ length: LETTERS.most + 1 }, (): Bucket => ({ ...EMPTY }))
  const bucketOf = (folded: string): Bucket | undefined => buckets[folded.length]

  const insert = (word: string, id: number): void => {
    const folded = foldAccents(word)
    const bucket = bucketOf(folded)
    words[id] = word
    ids.set(word, id)
    positions = ensureCapacity(positions, id + 1)
    if (!bucket) return
    bucket.ids = ensureCapacity(bucket.ids, bucket.size + 1)
    bucket.signatures = ensureCapacity(bucket.signatures, bucket.size + 1)
    bucket.ids[bucket.size] = id
    bucket.signatures[bucket.size] = signatureOf(folded)
    positions[id] = bucket.size++
  }

  const assign = (word: string): number => {
    const id = freeIds.pop() ?? words.length
    insert(copyString(word), id)
    frequencies = ensureCapacity(frequencies, id + 1)
    frequencies[id] = 0
    return id
  }

  /** Returns the word's id. */
  const count = (word: string): number => {
    const id = ids.get(word) ?? assign(word)
    frequencies[id] = (frequencies[id] ?? 0) + 1
    return id
  }

  const remove = (agent: number): void => {
    if (wordsOfAgents.length(agent) > 0) agents--
    for (const id of wordsOfAgents.view(agent)) {
      const frequency = (frequencies[id] ?? 0) - 1
      frequencies[id] = frequency
      if (frequency === 0) drop(words[id] ?? '', id)
    }
    wordsOfAgents.clear(agent)
  }

  const drop = (word: string, id: number): void => {
    ids.delete(word)
    words[id] = ''
    freeIds.push(id)
    const bucket = bucketOf(foldAccents(word))
    if (!bucket) return
    const [at, last] = [positions[id] ?? 0, --bucket.size]
    bucket.ids[at] = bucket.ids[last] ?? 0
    bucket.signatures[at] = bucket.signatures[last] ?? 0
    positions[bucket.ids[at]] = at
  }

  const neighboursOf = (word: string, most: number, minFrequency: number): Neighbour[] => {
    const typed = foldAccents(word)
    const signature = signatureOf(typed)
    const canMove = most < 2 && typed.length >= MOVED_LETTER_LENGTH
    const found: Neighbour[] = []
    for (let length = typed.length - most; length <= typed.length + most; length++) {
      const { ids, signatures, size } = buckets[length] ?? EMPTY
      // An edit takes at most one letter out of the set and adds at most one; one that changes the length does either.
      const mostGone = most - Math.max(0, length - typed.length)
      const mostNew = most - Math.max(0, typed.length - length)
      for (let i = 0; i < size; i++) {
        const other = signatures[i] ?? 0
        if (bitCount(signature & ~other) > mostGone || bitCount(other & ~signature) > mostNew) continue
        const id = ids[i] ?? 0
        const frequency = frequencies[id] ?? 0
        const meant = words[id] ?? ''
        if (frequency < minFrequency || meant === word) continue
        const folded = foldAccents(meant)
        const isMoved = canMove && other === signature && length === typed.length
        const edits = editsBetween(typed, folded, isMoved ? 2 : most)
        if (!edits) continue
        if (edits.distance <= most) found.push({ word: meant, frequency, ...edits })
        else if (sortedLetters(typed) === sortedLetters(folded))
          found.push({ word: meant, frequency, distance: 1, penalty: MOVED_LETTER_PENALTY })
      }
    }
    return found
  }

  if (saved) {
    frequencies = saved.frequencies
    for (const [id, word] of saved.words === '' ? [] : saved.words.split('\n').entries()) {
      if (word !== '') insert(word, id)
      else {
        words[id] = ''
        freeIds.push(id)
      }
    }
  }

  return {
    get size() {
      return ids.size
    },
    get state() {
      return { words: words.join('\n'), frequencies, agents, wordsOfAgents: wordsOfAgents.state }
    },
    get agents() {
      return agents
    },
    put(agent, fields) {
      remove(agent)
      wordsOfAgents.set(agent, Array.from(wordsOf(fields), count))
      if (wordsOfAgents.length(agent) > 0) agents++
    },
    addWord: (word) => void count(word),
    setWord(word, frequency) {
      const id = ids.get(word)
      if (frequency > 0) frequencies[id ?? assign(word)] = frequency
      else if (id !== undefined) drop(word, id)
    },
    remove,
    frequencyOf: (word) => frequencies[ids.get(word) ?? -1] ?? 0,
    startingWith(prefix, limit, minFrequency) {
      const found: { word: string; frequency: number }[] = []
      for (const [word, id] of ids) {
        const frequency = frequencies[id] ?? 0
        if (frequency >= minFrequency && word.startsWith(prefix)) found.push({ word, frequency })
      }
      const byFrequency = found.sort((a, b) => b.frequency - a.frequency || (a.word < b.word ? -1 : 1))
      return byFrequency.slice(0, limit).map(({ word }) => word)
    },
    neighboursOf,
  }
}

/** Like `chunksOf`, which takes three times as long. */
const ASCII_CHUNKS = /\w+/g

/** The distinct words of an agent, in lower case. */
export function wordsOf(fields: TextFields): Set<string> {
  const words = new Set<string>()
  for (const field of FIELDS) {
    let left = MAX_FIELD_WORDS
    for (const text of fields[field]) {
      for (const chunk of BEYOND_ASCII.test(text) ? chunksOf(text) : (text.match(ASCII_CHUNKS) ?? [])) {
        if (left-- === 0) break
        for (const word of lettersOf(chunk))
          if (word.length >= LETTERS.least && word.length <= LETTERS.most) words.add(word.toLowerCase())
      }
      if (left <= 0) break
    }
  }
  return words
}

/** Removes accents, which people often do not type. */
export const foldAccents = (word: string): string =>
  BEYOND_ASCII.test(word) ? word.normalize('NFD').replace(/\p{M}/gu, '') : word

/** The set of a word's letters; several letters may share a bit. */
function signatureOf(word: string): number {
  let bits = 0
  for (let i = 0; i < word.length; i++) bits |= 1 << (word.charCodeAt(i) & 31)
  return bits >>> 0
}

const sortedLetters = (word: string): string => [...word].sort().join('')
