import { describe, expect, it } from 'vitest'
import { coverRequest, hasSeveralTasks } from './cover-request.js'

describe('hasSeveralTasks', () => {
  it('counts clauses of at least three words, not single words in a list', () => {
    const several = (text: string) => hasSeveralTasks({ text, language: 'en' })
    expect(several('Find a simple lasagne recipe. How warm will Rome be tomorrow?')).toBe(true)
    expect(several('transcribe a long podcast and translate the transcript to German')).toBe(true)
    expect(several('black and white photos of cats, dogs and horses')).toBe(false)
    expect(several('translate a contract')).toBe(false)
  })
})

describe('coverRequest', () => {
  /** What the words "lasagne", "recipe" and "weather" contribute. */
  const contributions: Record<number, number[]> = { 1: [1, 0.5, 0], 2: [1, 0.4, 0], 3: [0, 0, 1.1], 4: [0, 0, 0] }
  const contributionsOf = (number: number): readonly number[] => contributions[number] ?? []
  const result = (number: number, evidence: number) => ({
    number,
    evidence,
    score: evidence ** 2 / (evidence ** 2 + 1),
  })
  const ranked = [result(1, 1.8), result(2, 1.7), result(3, 1.3), result(4, 1.2)]

  it('puts a result for the second task before another one for the first', () => {
    expect(coverRequest(ranked, contributionsOf).map(({ number }) => number)).toEqual([1, 3, 4, 2])
  })

  it('lowers the scores of results that bring nothing new, and of no others', () => {
    const scores = new Map(coverRequest(ranked, contributionsOf).map(({ number, score }) => [number, score]))
    for (const { number, score } of ranked.filter(({ number }) => number !== 2)) expect(scores.get(number)).toBe(score)
    expect(scores.get(2)).toBeCloseTo(result(2, 1.7 - 0.4 * 1.4).score)
  })

  it('never ranks the results that are not compared above the others', () => {
    const many = Array.from({ length: 40 }, (_, number) => result(number, 3 - number / 100))
    const scores = coverRequest(many, () => [1]).map(({ score }) => score)
    expect(scores).toHaveLength(40)
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
  })
})
