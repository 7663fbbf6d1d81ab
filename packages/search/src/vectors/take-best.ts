/**
 * Indices of the highest scores, best first.
 * @param compareEqual the order of indices with equal scores
 */
export function takeBest(
  scores: Float32Array,
  limit: number,
  compareEqual: (a: number, b: number) => number,
): number[] {
  if (limit <= 0) return []
  const compare = (a: number, b: number): number => (scores[b] ?? 0) - (scores[a] ?? 0) || compareEqual(a, b)
  // A heap: what comes last of those kept is at 0, and what is at i comes after those at 2i + 1 and 2i + 2.
  const kept: number[] = []
  let floor = Number.NEGATIVE_INFINITY
  for (let index = 0; index < scores.length; index++) {
    if (kept.length < limit) siftUp(kept, index, compare)
    else if ((scores[index] ?? 0) >= floor && compare(index, kept[0] ?? 0) < 0) siftDown(kept, index, compare)
    else continue
    if (kept.length >= limit) floor = scores[kept[0] ?? 0] ?? 0
  }
  return kept.sort(compare)
}

type Compare = (a: number, b: number) => number

function siftUp(heap: number[], item: number, compare: Compare): void {
  let at = heap.length
  while (at > 0) {
    const parent = (at - 1) >> 1
    const other = heap[parent] ?? item
    if (compare(other, item) >= 0) break
    heap[at] = other
    at = parent
  }
  heap[at] = item
}

/** Puts the item in the place of the one at the top. */
function siftDown(heap: number[], item: number, compare: Compare): void {
  let at = 0
  for (let child = 1; child < heap.length; child = 2 * at + 1) {
    const left = heap[child] ?? item
    const right = heap[child + 1] ?? left
    if (compare(right, left) > 0) child++
    const later = heap[child] ?? item
    if (compare(later, item) <= 0) break
    heap[at] = later
    at = child
  }
  heap[at] = item
}
