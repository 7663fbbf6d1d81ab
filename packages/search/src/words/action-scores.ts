import { FIRST_TERM_ID } from './analyzer.js'
import type { ListStore } from './list-store.js'
import type { ResolvedTerms } from './score-accumulator.js'
import type { WordQuery } from './word-query.js'

/** Bonus for objects that are near the action in the agent's text, as a share of their mean IDF. */
const ACTION_WEIGHT = 0.6
/** How many terms an object may be away from the action, in either direction: "transcribes videos and podcasts". */
const NEAR = 4

/** Scores agents for containing the action of the query near its objects: "transcribe a podcast". */
export class ActionScores {
  #action: number | undefined
  #objects: readonly { readonly id: number; readonly bonus: number }[] = []

  setQuery({ action = [] }: WordQuery, { ids, idfs }: ResolvedTerms): void {
    const [verb = -1, ...objects] = action
    this.#action = ids[verb]
    this.#objects = objects.flatMap((object) => {
      const id = ids[object]
      const idf = ((idfs[verb] ?? 0) + (idfs[object] ?? 0)) / 2
      return id === undefined ? [] : [{ id, bonus: (ACTION_WEIGHT * idf) / objects.length }]
    })
  }

  /** Sum of the bonuses for the objects that a term sequence contains near the action. */
  scoreOf(sequences: ListStore, list: number): number {
    if (this.#action === undefined || this.#objects.length === 0) return 0
    const sequence = sequences.view(list)
    return this.#objects.reduce((sum, { id, bonus }) => sum + (areNear(sequence, this.#action, id) ? bonus : 0), 0)
  }
}

/** Whether two terms are near each other in a text of the sequence. */
function areNear(sequence: Uint32Array, a: number | undefined, b: number): boolean {
  let [lastA, lastB] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let i = 0; i < sequence.length; i++) {
    const id = sequence[i] ?? 0
    if (id === a) lastA = i
    else if (id === b) lastB = i
    // Another text begins.
    else if (id < FIRST_TERM_ID) [lastA, lastB] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
    else continue
    if (Math.abs(lastA - lastB) <= NEAR) return true
  }
  return false
}
