import type { AgentRecord } from '@switchboard/protocol'
import { ensureCapacity } from '../ensure-capacity.js'
import type { AbuseFinding } from './abuse-finding.js'
import { HashChains } from './chained-hash-table.js'
import { BANDS, likenessOf, SIGNATURE_LENGTH, sketch } from './min-hash.js'
import { createNameIds } from './name-ids.js'
import { wordHashes } from './word-hashes.js'

/** Share of the telling words of two agents that are the same, from which one is a near-copy of the other. */
const COPY_LIKENESS = 0.8
/** Agents that say less than this are copies only if they say the same. */
const MIN_WORDS = 8
/** Near-copies of its own that a publisher may have: versions, regions, languages. */
const MAX_OWN = 4
/** Near-copies by others that were there before; the first of them are not to suffer from those who copy them. */
const MAX_EARLIER = 4
/** Counting ends here: more is a flood, however many. */
const MAX_COUNTED = 100
/** Agents that are looked at in one band, so that counting takes the same time in a flood. */
const MAX_LOOKED = 200

/** How many near-copies of an agent there are that everybody can find, itself apart. */
export interface Copies {
  readonly own: number
  readonly all: number
  /** Those of other publishers that were registered before. */
  readonly earlier: number
}

export interface ComparedAgent {
  /** As strangers see it. */
  readonly record: AgentRecord
  /** Whoever answers for it to the directory, not who the document says. */
  readonly publisher: string
  /** Everybody may find it. Others are compared with the open ones and count for nobody: a count would betray them. */
  readonly open: boolean
}

/** Finds floods of agents that say almost the same. */
export interface CopyDetector {
  readonly size: number
  /** Bytes of the typed arrays. */
  readonly bytes: number
  /** Adds or replaces. */
  put(number: number, agent: ComparedAgent): void
  remove(number: number): void
  /** As of now; changes with every agent that comes or goes. */
  copiesOf(number: number): Copies
  /** What to warn of, if there are too many copies. */
  findingOf(number: number): AbuseFinding | undefined
}

export function createCopyDetector(): CopyDetector {
  const slots = new Map<number, number>()
  const free: number[] = []
  const chains = new HashChains()
  let signatures = new Uint8Array(SIGNATURE_LENGTH)
  let bands = new Uint32Array(BANDS)
  let words = new Uint32Array(1)
  let publishers = new Uint32Array(1)
  let numbers = new Float64Array(1)
  let isOpen = new Uint8Array(1)
  /** The look at which a slot was last seen, so that none is counted twice. */
  let seenAt = new Uint32Array(1)
  let look = 0
  const publisherIds = createNameIds()

  const takeSlot = (number: number): number => {
    const slot = free.pop() ?? slots.size
    slots.set(number, slot)
    signatures = ensureCapacity(signatures, (slot + 1) * SIGNATURE_LENGTH)
    bands = ensureCapacity(bands, (slot + 1) * BANDS)
    words = ensureCapacity(words, slot + 1)
    publishers = ensureCapacity(publishers, slot + 1)
    numbers = ensureCapacity(numbers, slot + 1)
    isOpen = ensureCapacity(isOpen, slot + 1)
    seenAt = ensureCapacity(seenAt, slot + 1)
    return slot
  }

  const remove = (number: number): void => {
    const slot = slots.get(number)
    if (slot === undefined) return
    if (isOpen[slot] === 1) for (let band = 0; band < BANDS; band++) chains.remove(slot * BANDS + band)
    publisherIds.release(publishers[slot] ?? 0)
    slots.delete(number)
    free.push(slot)
  }

  const put = (number: number, { record, publisher, open }: ComparedAgent): void => {
    remove(number)
    const hashes = wordHashes(record)
    const made = sketch(hashes)
    const slot = takeSlot(number)
    signatures.set(made.signature, slot * SIGNATURE_LENGTH)
    bands.set(made.bands, slot * BANDS)
    words[slot] = hashes.size
    publishers[slot] = publisherIds.take(publisher)
    numbers[slot] = number
    isOpen[slot] = open ? 1 : 0
    if (open) for (const [band, key] of made.bands.entries()) chains.add(slot * BANDS + band, key)
  }

  const isCopy = (a: number, b: number): boolean => {
    let equal = 0
    const [fromA, fromB] = [a * SIGNATURE_LENGTH, b * SIGNATURE_LENGTH]
    for (let i = 0; i < SIGNATURE_LENGTH; i++) if (signatures[fromA + i] === signatures[fromB + i]) equal++
    const fewest = Math.min(words[a] ?? 0, words[b] ?? 0)
    return fewest < MIN_WORDS ? fewest > 0 && equal === SIGNATURE_LENGTH : likenessOf(equal) >= COPY_LIKENESS
  }

  const copiesOf = (number: number): Copies => {
    const slot = slots.get(number)
    const count = { own: 0, all: 0, earlier: 0 }
    if (slot === undefined) return count
    look++
    seenAt[slot] = look
    for (let band = 0; band < BANDS; band++) {
      for (const entry of chains.find(bands[slot * BANDS + band] ?? 0, MAX_LOOKED)) {
        const other = Math.floor(entry / BANDS)
        // The key of one band may happen to be that of another.
        if (entry % BANDS !== band || seenAt[other] === look) continue
        seenAt[other] = look
        if (!isCopy(slot, other)) continue
        count.all++
        if (publishers[other] === publishers[slot]) count.own++
        else if ((numbers[other] ?? 0) < number) count.earlier++
        if (count.all >= MAX_COUNTED) return count
      }
    }
    return count
  }

  return {
    get size() {
      return slots.size
    },
    get bytes() {
      const arrays = [signatures, bands, words, publishers, numbers, isOpen, seenAt]
      return arrays.reduce((sum, { byteLength }) => sum + byteLength, chains.bytes)
    },
    put,
    remove,
    copiesOf,
    findingOf(number) {
      const { own, all, earlier } = copiesOf(number)
      if (own <= MAX_OWN && earlier <= MAX_EARLIER) return undefined
      const many = all >= MAX_COUNTED ? `${MAX_COUNTED} or more` : `${all}`
      return { code: 'near_duplicates', member: '', message: `has ${many} near-copies, ${own} of the same publisher` }
    },
  }
}
