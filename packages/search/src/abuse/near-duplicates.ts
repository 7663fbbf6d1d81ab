import type { AgentRecord } from '@switchboard/protocol'
import { ensureCapacity } from '../ensure-capacity.js'
import { LANGUAGES_OF_WORD } from '../words/stop-words.js'
import { textFieldsOf } from '../words/text-fields.js'
import type { AbuseFinding } from './abuse-finding.js'
import { ChainedHashTable } from './chained-hash-table.js'
import { BANDS, estimateSimilarity, minHash, mix32, SIGNATURE_LENGTH } from './min-hash.js'
import { isUnspaced, plainText, readTokens } from './plain-text.js'

/** Estimated Jaccard similarity of two agents' words from which they count as near-duplicates. */
const DUPLICATE_SIMILARITY = 0.8
/** Agents with fewer words are near-duplicates only if their signatures are identical. */
const MIN_WORDS = 8
/** Near-duplicates of its own that a publisher may have: versions, regions, languages. */
const MAX_SAME_PUBLISHER = 4
/** Earlier near-duplicates by other publishers that are tolerated. Later ones never count: they may be the copies. */
const MAX_EARLIER = 4
/** Counting stops here. */
const MAX_COUNTED = 100
/** Entries visited in one band, so that counting takes bounded time in a flood of copies. */
const MAX_VISITED = 200

/** Numbers of public near-duplicates of an agent, not counting itself. */
export interface DuplicateCounts {
  readonly samePublisher: number
  readonly total: number
  /** By other publishers, and registered before the agent. */
  readonly earlier: number
}

/** An agent to compare with others. */
export interface ComparedAgent {
  /** Without private members. */
  readonly record: AgentRecord
  /** The account that registered the agent, not the publisher that the document claims. */
  readonly publisher: string
  /** Agents that are not public are compared with public ones but never counted: a count would reveal them. */
  readonly isPublic: boolean
}

/** Finds floods of agents with nearly the same text. */
export interface NearDuplicateDetector {
  readonly size: number
  /** Memory of the typed arrays. */
  readonly bytes: number
  /** Adds or replaces an agent. */
  put(number: number, agent: ComparedAgent): void
  remove(number: number): void
  /** Current counts; any agent that is added or removed may change them. */
  duplicatesOf(number: number): DuplicateCounts
  /** The finding to report if there are too many near-duplicates. */
  findingOf(number: number): AbuseFinding | undefined
}

/** Creates an empty detector. It compares MinHash signatures, and finds candidates by locality-sensitive hashing. */
export function createNearDuplicateDetector(): NearDuplicateDetector {
  const slots = new Map<number, number>()
  const freeSlots: number[] = []
  const bandTable = new ChainedHashTable()
  let signatures = new Uint8Array(SIGNATURE_LENGTH)
  let bandKeys = new Uint32Array(BANDS)
  let wordCounts = new Uint32Array(1)
  const publishers: string[] = []
  let numbers = new Float64Array(1)
  let isPublicSlot = new Uint8Array(1)
  /** The pass in which a slot was last visited, so that no agent is counted twice. */
  let visitedIn = new Uint32Array(1)
  let pass = 0

  const takeSlot = (number: number): number => {
    const slot = freeSlots.pop() ?? slots.size
    slots.set(number, slot)
    signatures = ensureCapacity(signatures, (slot + 1) * SIGNATURE_LENGTH)
    bandKeys = ensureCapacity(bandKeys, (slot + 1) * BANDS)
    wordCounts = ensureCapacity(wordCounts, slot + 1)
    numbers = ensureCapacity(numbers, slot + 1)
    isPublicSlot = ensureCapacity(isPublicSlot, slot + 1)
    visitedIn = ensureCapacity(visitedIn, slot + 1)
    return slot
  }

  const remove = (number: number): void => {
    const slot = slots.get(number)
    if (slot === undefined) return
    if (isPublicSlot[slot] === 1) for (let band = 0; band < BANDS; band++) bandTable.remove(slot * BANDS + band)
    publishers[slot] = ''
    slots.delete(number)
    freeSlots.push(slot)
  }

  const put = (number: number, { record, publisher, isPublic }: ComparedAgent): void => {
    remove(number)
    const hashes = wordHashes(record)
    const { signature, bands } = minHash(hashes)
    const slot = takeSlot(number)
    signatures.set(signature, slot * SIGNATURE_LENGTH)
    bandKeys.set(bands, slot * BANDS)
    wordCounts[slot] = hashes.size
    publishers[slot] = publisher
    numbers[slot] = number
    isPublicSlot[slot] = isPublic ? 1 : 0
    if (isPublic) for (const [band, key] of bands.entries()) bandTable.add(slot * BANDS + band, key)
  }

  const isDuplicate = (a: number, b: number): boolean => {
    let equal = 0
    const [startA, startB] = [a * SIGNATURE_LENGTH, b * SIGNATURE_LENGTH]
    for (let i = 0; i < SIGNATURE_LENGTH; i++) if (signatures[startA + i] === signatures[startB + i]) equal++
    const words = Math.min(wordCounts[a] ?? 0, wordCounts[b] ?? 0)
    return words < MIN_WORDS
      ? words > 0 && equal === SIGNATURE_LENGTH
      : estimateSimilarity(equal) >= DUPLICATE_SIMILARITY
  }

  const duplicatesOf = (number: number): DuplicateCounts => {
    const slot = slots.get(number)
    const counts = { samePublisher: 0, total: 0, earlier: 0 }
    if (slot === undefined) return counts
    pass++
    visitedIn[slot] = pass
    for (let band = 0; band < BANDS; band++) {
      for (const entry of bandTable.find(bandKeys[slot * BANDS + band] ?? 0, MAX_VISITED)) {
        const other = Math.floor(entry / BANDS)
        // Different bands can have the same key by chance.
        if (entry % BANDS !== band || visitedIn[other] === pass) continue
        visitedIn[other] = pass
        if (!isDuplicate(slot, other)) continue
        counts.total++
        if (publishers[other] === publishers[slot]) counts.samePublisher++
        else if ((numbers[other] ?? 0) < number) counts.earlier++
        if (counts.total >= MAX_COUNTED) return counts
      }
    }
    return counts
  }

  return {
    get size() {
      return slots.size
    },
    get bytes() {
      const arrays = [signatures, bandKeys, wordCounts, numbers, isPublicSlot, visitedIn]
      return arrays.reduce((sum, { byteLength }) => sum + byteLength, bandTable.bytes)
    },
    put,
    remove,
    duplicatesOf,
    findingOf(number) {
      const { samePublisher, total, earlier } = duplicatesOf(number)
      if (samePublisher <= MAX_SAME_PUBLISHER && earlier <= MAX_EARLIER) return undefined
      const count = total >= MAX_COUNTED ? `${MAX_COUNTED} or more` : `${total}`
      const message = `has ${count} near-duplicates, ${samePublisher} of them by the same publisher`
      return { code: 'near_duplicates', member: '', message }
    },
  }
}

/** Distinct words compared for each agent. */
const MAX_WORDS = 1000

/**
 * Hashes of an agent's distinct words without stop words; character bigrams for scripts without spaces. Numbers and
 * trailing digits are dropped, so that numbering copies does not make them different.
 */
export function wordHashes(record: AgentRecord): ReadonlySet<number> {
  const hashes = new Set<number>()
  const { title, description, example } = textFieldsOf(record)
  for (const text of [...title, ...description, ...example]) {
    for (const token of readTokens(plainText(text))) {
      if (hashes.size >= MAX_WORDS) return hashes
      if (isUnspaced(token)) for (let i = 0; i + 1 < token.length; i++) hashes.add(hashOf(token, i, i + 2))
      else if (token.length > 1 && !LANGUAGES_OF_WORD.has(token)) addWord(hashes, token)
    }
  }
  return hashes
}

function addWord(hashes: Set<number>, word: string): void {
  let end = word.length
  while (end > 0 && isDigit(word.charCodeAt(end - 1))) end--
  if (end > 0) hashes.add(hashOf(word, 0, end))
}

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39

/** FNV-1a of a substring, with a final mix. */
function hashOf(text: string, from: number, to: number): number {
  let hash = 0x811c9dc5
  for (let i = from; i < to; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return mix32(hash)
}
