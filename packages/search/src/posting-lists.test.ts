import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NumberSet } from './number-set.js'
import { PostingLists } from './posting-lists.js'

/** So many that frequent terms have sets and rare ones lists. */
const AGENTS = 4000

describe('PostingLists', () => {
  /** Every agent has `every-1`, every second one `every-2`, and so on; some lose a term again. */
  const steps = [1, 2, 3, 50, 700, 3999]
  const postings = new PostingLists()
  const has = (number: number, term: string): boolean => {
    const step = Number(term.slice('every-'.length))
    return number % step === 0 && number % 11 !== 0
  }
  for (let number = AGENTS - 1; number >= 0; number--)
    for (const step of steps) if (number % step === 0) postings.add(`every-${step}`, number)
  for (let number = 0; number < AGENTS; number += 11) for (const step of steps) postings.remove(`every-${step}`, number)

  it('finds the agents that meet all clauses', () => {
    const all = Array.from({ length: AGENTS }, (_, number) => number)
    const term = fc.constantFrom(...steps.map((step) => `every-${step}`), 'every-9999')
    const clause = fc.record({ anyOf: fc.array(term, { maxLength: 3 }), excluded: fc.boolean() })
    fc.assert(
      fc.property(fc.array(clause, { maxLength: 4 }), fc.constantFrom(1, 5), (clauses, share) => {
        const among = all.filter((number) => number % share === 0)
        const expected = among.filter((number) =>
          clauses.every(({ anyOf, excluded }) => anyOf.some((each) => has(number, each)) !== excluded),
        )
        expect([...postings.matching(clauses, new NumberSet(among))]).toEqual(expected)
      }),
      { numRuns: 100 },
    )
  })
})
