import { createAgentWordsReader, FIRST_TERM, POINT_BITS } from './agent-words.js'
import { grown } from './grown.js'
import { ListStore } from './list-store.js'
import { Terms } from './terms.js'
import type { TextFields } from './text-fields.js'

/**
 * The words of all agents. An agent has a slot, a number as low as possible, by which scores are added up; what was kept
 * of an agent that is removed is used again.
 */
export class StoredWords {
  readonly terms = new Terms(FIRST_TERM)
  /** For each term: slot and points of every agent that has it, by slot. */
  readonly postings = new ListStore()
  /** For each slot: the agent's terms in order, so that it can be removed, and neighbours be found. */
  readonly sequences = new ListStore()
  readonly #reader = createAgentWordsReader(this.terms)
  readonly #slots = new Map<number, number>()
  readonly #freeSlots: number[] = []
  #numbers = new Float64Array(256)
  #lengths = new Float32Array(256)
  /** Of the agents that are open to everybody. */
  #openLength = 0
  /** Slots of the others, and how many of them have a term. */
  readonly #closed = new Set<number>()
  readonly #closedCounts = new Map<number, number>()

  get size(): number {
    return this.#slots.size
  }

  /** How many slots there are, free ones included. */
  get slotCount(): number {
    return this.#slots.size + this.#freeSlots.length
  }

  get bytes(): number {
    const perAgent = this.#numbers.byteLength + this.#lengths.byteLength
    return this.postings.bytes + this.sequences.bytes + perAgent + this.#reader.bytes
  }

  /** For each slot the number of its agent. */
  get numbers(): Float64Array {
    return this.#numbers
  }

  /** For each slot how long its agent's texts are. */
  get lengths(): Float32Array {
    return this.#lengths
  }

  get openAgents(): number {
    return this.size - this.#closed.size
  }

  /** Mean length of the agents that are open to everybody, at least so much that dividing by it is safe. */
  get meanLength(): number {
    return Math.max(this.#openLength, 1) / this.openAgents
  }

  slotOf(number: number): number | undefined {
    return this.#slots.get(number)
  }

  /** How many of the agents that are open to everybody have the term. */
  openAgentsWith(term: number): number {
    return this.postings.length(term) - (this.#closedCounts.get(term) ?? 0)
  }

  put(number: number, fields: TextFields, open: boolean): void {
    this.remove(number)
    const slot = this.#takeSlot(number)
    const { sequence, terms, points, length } = this.#reader.read(fields)
    for (const term of terms) {
      this.postings.insert(term, slot * 2 ** POINT_BITS + points(term))
      if (!open) this.#countClosed(term, 1)
    }
    this.sequences.set(slot, sequence)
    this.#lengths[slot] = length
    if (open) this.#openLength += length
    else this.#closed.add(slot)
  }

  remove(number: number): void {
    const slot = this.#slots.get(number)
    if (slot === undefined) return
    const wasOpen = !this.#closed.delete(slot)
    for (const term of this.sequences.view(slot)) {
      // A term that stands there twice is gone when it is met again.
      if (term < FIRST_TERM || !this.#removePosting(term, slot)) continue
      if (!wasOpen) this.#countClosed(term, -1)
      if (this.postings.length(term) === 0) this.terms.release(term)
    }
    this.sequences.clear(slot)
    if (wasOpen) this.#openLength -= this.#lengths[slot] ?? 0
    this.#slots.delete(number)
    this.#freeSlots.push(slot)
  }

  #removePosting(term: number, slot: number): boolean {
    const position = this.postings.lowerBound(term, slot * 2 ** POINT_BITS)
    const posting = this.postings.at(term, position)
    if (posting === undefined || posting >>> POINT_BITS !== slot) return false
    this.postings.removeAt(term, position)
    return true
  }

  #takeSlot(number: number): number {
    const slot = this.#freeSlots.pop() ?? this.slotCount
    this.#numbers = grown(this.#numbers, slot + 1)
    this.#lengths = grown(this.#lengths, slot + 1)
    this.#numbers[slot] = number
    this.#slots.set(number, slot)
    return slot
  }

  #countClosed(term: number, change: 1 | -1): void {
    const count = (this.#closedCounts.get(term) ?? 0) + change
    if (count > 0) this.#closedCounts.set(term, count)
    else this.#closedCounts.delete(term)
  }
}
