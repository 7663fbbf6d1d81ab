// Finds the constants of packages/search/src/ranking/calibrate.ts: logistic regression over the first ten results of every
// query of the tuning sets, alone and among the load set. Prints the constants, and how far off each fifth of the scale is.
// node --max-old-space-size=8000 bench/search/fit-calibration.mjs --data ../shared/retrieval [--cache FOLDER]
import { parseArgs } from 'node:util'
import { binsOf, CACHE, searchSet } from './scored-results.mjs'
import { SETS } from './sets.mjs'

const { values: options } = parseArgs({
  options: { data: { type: 'string', default: '../shared/retrieval' }, cache: { type: 'string', default: CACHE } },
})
/** As in calibrate.ts. */
const COMPARED_RESULTS = 30
/** Results of a query that are fitted. */
const DEPTH = 10
const RIVAL_EXPONENTS = [2.5, 3, 3.5, 4]
const ABSENT_ODDS = [0.3, 0.5, 0.7, 1]
/** Most agents that fit the short requests of toole-single among the load set have no label: they count less. */
const WEIGHTS = { 'toole-single with distractors': 0.3 }
const STEPS = 30
const TOLERANCE = 0.1

const oddsOf = (score) => score / (1 - Math.min(score, 1 - 1e-9))
const probability = (logit) => 1 / (1 + Math.exp(-logit))
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0)

/** What the logarithm of the odds is a weighted sum of: 1, how far the result is behind the first, how strong rivals are. */
function featuresOf({ tasks, results }, exponent, absent) {
  const odds = results.map(({ ownScore }) => oddsOf(ownScore))
  const rivals = odds.slice(1, COMPARED_RESULTS).reduce((sum, each) => sum + each ** exponent, absent ** exponent)
  return results.slice(0, DEPTH).map(({ isRight }, i) => ({
    isRight,
    isFirst: i === 0,
    offset: Math.log(tasks),
    values: [1, Math.log(odds[i] / odds[0]), -Math.log(rivals / odds[0] ** exponent)],
  }))
}

/** Logistic regression by Newton's method; every set has the same weight. */
function fitWeights(sets) {
  let weights = [0, 0, 0]
  for (let step = 0; step < STEPS; step++) {
    const gradient = [0, 0, 0]
    const hessian = [0, 1, 2].map(() => [1e-9, 1e-9, 1e-9])
    for (const { weight, rows } of sets)
      for (const { values, offset, isRight } of rows) {
        const p = probability(dot(weights, values) + offset)
        values.forEach((x, i) => {
          gradient[i] += (weight / rows.length) * (Number(isRight) - p) * x
          values.forEach((y, j) => {
            hessian[i][j] += (weight / rows.length) * p * (1 - p) * x * y
          })
        })
      }
    const change = solve(hessian, gradient)
    weights = weights.map((each, i) => each + change[i])
  }
  return weights
}

/** Solves a small system of linear equations by elimination. */
function solve(matrix, vector) {
  const rows = matrix.map((row, i) => [...row, vector[i]])
  rows.forEach((pivot, i) => {
    rows.forEach((row, j) => {
      if (i === j) return
      const factor = row[i] / pivot[i]
      pivot.forEach((value, k) => {
        row[k] -= factor * value
      })
    })
  })
  return rows.map((row, i) => row.at(-1) / row[i])
}

const searched = []
for (const distractors of [false, true])
  for (const name of SETS) {
    const { queries } = await searchSet({ ...options, name, distractors, depth: COMPARED_RESULTS })
    searched.push({ name: distractors ? `${name} with distractors` : name, queries })
  }

for (const exponent of RIVAL_EXPONENTS)
  for (const absent of ABSENT_ODDS) {
    const sets = searched.map(({ name, queries }) => ({
      name,
      weight: WEIGHTS[name] ?? 1,
      rows: queries.flatMap((query) => featuresOf(query, exponent, absent)),
    }))
    const [even, gap, rivalry] = fitWeights(sets)
    const bins = sets.flatMap(({ name, rows }) => {
      const scored = rows.map((row) => ({
        ...row,
        score: probability(dot([even, gap, rivalry], row.values) + row.offset),
      }))
      return [...binsOf(scored), ...binsOf(scored.filter(({ isFirst }) => isFirst))].map((bin) => ({ name, ...bin }))
    })
    const off = bins.flatMap(({ name, score, right }) =>
      score === undefined ? [] : [{ name, by: Math.abs(score - right) }],
    )
    const worst = (list) => Math.max(...list.map(({ by }) => by)).toFixed(2)
    const counted = off.filter(({ name }) => WEIGHTS[name] === undefined)
    console.log(
      `RIVAL_EXPONENT ${exponent}, ABSENT_ODDS ${absent}: EVEN_ODDS ${Math.exp(even).toFixed(2)}, GAP_EXPONENT ${gap.toFixed(2)}, RIVALRY ${rivalry.toFixed(2)};`,
      `${counted.filter(({ by }) => by > TOLERANCE).length} of ${counted.length} bins off by more than ${TOLERANCE}, at most ${worst(counted)};`,
      `${Object.keys(WEIGHTS)}: at most ${worst(off.filter(({ name }) => WEIGHTS[name] !== undefined))}`,
    )
  }
