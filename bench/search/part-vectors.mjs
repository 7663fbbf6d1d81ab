// Exact vector search, so that quality is measured without the error of an approximate index.
import { embeddingTextsOf } from '../../packages/search/dist/ranking/embedding-texts.js'

/** @param vectorOf the vector of a text */
export function createPartVectors(records, vectorOf) {
  const parts = records.map((record) =>
    embeddingTextsOf(record).map(({ part, text }) => ({ part, vector: vectorOf(text) })),
  )
  return {
    dimensions: parts[0][0].vector.length,
    whole: (position) => parts[position][0].vector,
    /** For each record the maximum similarity over its parts and the query's texts. */
    bestParts(queryVectors, weigh) {
      return Float32Array.from(parts, (recordParts) => {
        let best = -1
        for (const { part, vector } of recordParts) {
          for (const query of queryVectors) best = Math.max(best, weigh(part, dot(vector, query)))
        }
        return best
      })
    },
  }
}

function dot(a, b) {
  let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0]
  for (let i = 0; i < a.length; i += 4) {
    sum0 += a[i] * b[i]
    sum1 += a[i + 1] * b[i + 1]
    sum2 += a[i + 2] * b[i + 2]
    sum3 += a[i + 3] * b[i + 3]
  }
  return sum0 + sum1 + sum2 + sum3
}
