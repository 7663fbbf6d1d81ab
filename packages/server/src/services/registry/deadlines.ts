/** Things and the times they are due, the earliest first: a binary heap. */
export interface Deadlines<T> {
  add(at: number, what: T): void
  /** The earliest time, if anything is left. */
  next(): number | undefined
  /** Takes out all that is due by then. */
  takeUntil(time: number): T[]
}

export function createDeadlines<T>(): Deadlines<T> {
  const heap: { at: number; what: T }[] = []

  const swap = (i: number, j: number): void => {
    const [a, b] = [heap[i], heap[j]]
    if (a && b) [heap[i], heap[j]] = [b, a]
  }
  const at = (i: number): number => heap[i]?.at ?? Number.POSITIVE_INFINITY

  const takeFirst = (): T | undefined => {
    const first = heap[0]
    const last = heap.pop()
    if (!first || !last) return undefined
    if (heap.length > 0) heap[0] = last
    for (let i = 0; ; ) {
      const [left, right] = [2 * i + 1, 2 * i + 2]
      const child = at(right) < at(left) ? right : left
      if (at(i) <= at(child)) return first.what
      swap(i, child)
      i = child
    }
  }

  return {
    add(time, what) {
      heap.push({ at: time, what })
      for (let i = heap.length - 1; i > 0; ) {
        const parent = (i - 1) >> 1
        if (at(parent) <= at(i)) break
        swap(i, parent)
        i = parent
      }
    },
    next: () => heap[0]?.at,
    takeUntil(time) {
      const due: T[] = []
      while (heap.length > 0 && at(0) <= time) {
        const what = takeFirst()
        if (what !== undefined) due.push(what)
      }
      return due
    },
  }
}
