/** A clock that tests can set forward, because lifetimes are too long to wait for. */
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
