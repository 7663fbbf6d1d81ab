import { describe, expect, it } from 'vitest'
import { createCalibration } from './calibrate.js'

const ONE_TASK = { texts: ['weather'] }
const ranked = (...scores: number[]) => scores.map((score, number) => ({ number, score }))
/** Calibrated scores of all results. */
const calibrated = (scores: number[], query: { texts: string[] } = ONE_TASK): number[] =>
  scores.map(createCalibration(ranked(...scores), query))
const first = (...scores: number[]): number => calibrated(scores)[0] ?? Number.NaN

describe('createCalibration', () => {
  it('lowers the score of the first result the more others fit nearly as well', () => {
    const scores = [first(0.8, 0.3), first(0.8, 0.7), first(0.8, 0.79), first(0.8, 0.79, 0.79, 0.79)]
    expect(scores).toEqual([...scores].sort((a, b) => b - a))
    expect(scores[0]).toBeGreaterThan(0.9)
    expect(scores.at(-1)).toBeLessThan(0.3)
  })

  it('is not certain of a weak result just because it is the only one', () => {
    expect(first(0.2)).toBeLessThan(0.1)
    expect(first(0.8)).toBeGreaterThan(0.9)
  })

  it('keeps the order, also of scores that preferences have raised above the first', () => {
    const calibrate = createCalibration(ranked(0.7, 0.6, 0.2, 0.1), ONE_TASK)
    const scores = [0, 0.001, 0.1, 0.2, 0.6, 0.7, 0.9, 0.999, 1].map(calibrate)
    expect(scores).toEqual([...scores].sort((a, b) => a - b))
    expect(new Set(scores).size).toBe(scores.length)
    expect(scores[0]).toBe(0)
  })

  it('expects several right results of a request with several tasks', () => {
    const scores = [0.8, 0.75, 0.7]
    const [one = 0, three = 0] = [calibrated(scores)[1], calibrated(scores, { texts: ['all', 'a', 'b', 'c'] })[1]]
    expect(three).toBeGreaterThan(1.5 * one)
  })

  it('stays within 0 and 1 for any scores', () => {
    for (const scores of [[1, 1, 0.5], [1e-12, 1e-13], [0.9999999, 0.9999999], [0, 0], []])
      for (const score of calibrated(scores)) expect(score >= 0 && score <= 1).toBe(true)
  })
})
