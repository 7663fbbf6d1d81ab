/** A clock that tests set forward: lifetimes are longer than anyone wants to wait. */
export interface TestClock {
  readonly now: () => number
  advance(seconds: number): void
}

export function createTestClock(): TestClock {
  let ahead = 0
  return {
    now: () => Date.now() + ahead,
    advance(seconds) {
      ahead += seconds * 1000
    },
  }
}
