/** A binary heap of items by the time they are due. */
export interface Deadlines<T> {
  add(at: number, item: T): void
  /** The earliest time; undefined if there are no items. */
  next(): number | undefined
  /** Removes and returns the items that are due by then, earliest first. */
  takeUntil(time: number): T[]
}

export function createDeadlines<T>(): Deadlines<T> {
  const heap: { at: number; item: T }[] = []

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
      if (at(i) <= at(child)) return first.item
      swap(i, child)
      i = child
    }
  }

  return {
    add(time, item) {
      heap.push({ at: time, item })
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
        const item = takeFirst()
        if (item !== undefined) due.push(item)
      }
      return due
    },
  }
}
