// Measures of ranking quality: recall at 1, 5 and 10, and nDCG at 10 with binary relevance.

/** Means over all queries; `rankings[i]` are the positions found for query i, best first. */
export function measure(rankings, queries) {
  const sums = { recall1: 0, recall5: 0, recall10: 0, ndcg10: 0 }
  rankings.forEach((ranking, i) => {
    const { relevant } = queries[i]
    const recall = (depth) =>
      ranking.slice(0, depth).filter((position) => relevant.has(position)).length / relevant.size
    sums.recall1 += recall(1)
    sums.recall5 += recall(5)
    sums.recall10 += recall(10)
    sums.ndcg10 +=
      gain(ranking.slice(0, 10).map((position) => relevant.has(position))) /
      gain(Array(Math.min(10, relevant.size)).fill(true))
  })
  return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / queries.length]))
}

const gain = (found) => found.reduce((sum, isRelevant, rank) => sum + (isRelevant ? 1 / Math.log2(rank + 2) : 0), 0)
