/** Clocks that tests can move, because lifetimes are too long to wait for. Pass it to `startDirectory`. */
export interface TestClock {
  readonly now: () => number
  readonly monotonic: () => number
  /** Lets time pass, on both clocks. */
  advance(seconds: number): void
  /** Sets the wall clock forward, or back if negative, as an administrator or NTP does; no time passes. */
  step(seconds: number): void
}

export function createTestClock(): TestClock {
  let passed = 0
  let stepped = 0
  return {
    now: () => Date.now() + passed + stepped,
    monotonic: () => performance.now() + passed,
    advance(seconds) {
      passed += seconds * 1000
    },
    step(seconds) {
      stepped += seconds * 1000
    },
  }
}
