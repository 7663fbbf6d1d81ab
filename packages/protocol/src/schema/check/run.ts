import type { Issue } from '../../errors.js'
import { type JsonValue, pointerToken } from '../../json.js'

/** Steps for checking one value, each up to 100 ns. Real values need a hundredth of this. */
const MAX_STEPS = 1_000_000
/** Nested subschemas: values have 64 levels, and a schema can apply several subschemas to each. */
const MAX_DEPTH = 1000
/** Enough to be helpful. */
export const MAX_ISSUES = 20

/** Thrown by a check that exceeds its steps or depth. */
export class WorkExceeded extends Error {}

/** Members and items that a subschema has evaluated: `unevaluatedProperties` and `unevaluatedItems` skip them. */
export type Evaluated = Set<string | number>

/** A compiled schema or keyword: returns whether the value fits, and reports issues to the run. */
export type Check = (value: JsonValue, run: Run, evaluated: Evaluated | undefined) => boolean

/**
 * The state of checking one value. An attacker may send both the schema and the value, and analysing the schema alone
 * does not bound the work (nested recursion, a thousand patterns on a thousand items each), so the steps are counted.
 */
export class Run {
  readonly issues: Issue[] = []
  #steps: number
  #depth = 0
  /** Maximum of `issues`; 0 while only the result matters. */
  #limit = MAX_ISSUES
  readonly #path: (string | number)[] = []

  constructor(maxSteps = MAX_STEPS) {
    this.#steps = maxSteps
  }

  /** Counts steps before they are done; throws if the budget is exceeded. */
  spend(steps: number): void {
    // Whole numbers: others would be allocated one by one.
    this.#steps -= Math.ceil(steps)
    if (this.#steps < 0) throw new WorkExceeded()
  }

  /** Reports an issue of the value, or of a member of it. Returns false, for the check to return. */
  fail(message: string, ...member: string[]): false {
    if (this.canReportMore) {
      const at = [...this.#path, ...member].map((name) => `/${pointerToken(String(name))}`).join('')
      this.issues.push({ at, message })
    }
    return false
  }

  /** Whether a failed check should continue, to report more issues. */
  get canReportMore(): boolean {
    return this.issues.length < this.#limit
  }

  /** Applies a subschema to the same value. */
  apply(check: Check, value: JsonValue, evaluated: Evaluated | undefined): boolean {
    this.spend(1)
    if (++this.#depth > MAX_DEPTH) throw new WorkExceeded()
    const fits = check(value, this, evaluated)
    this.#depth--
    return fits
  }

  /** Applies a subschema to a part of the value. */
  into(name: string | number, check: Check, part: JsonValue): boolean {
    this.#path.push(name)
    const fits = this.apply(check, part, undefined)
    this.#path.pop()
    return fits
  }

  /** Whether a subschema fits, without reporting issues. */
  fits(check: Check, value: JsonValue, evaluated?: Evaluated): boolean {
    const limit = this.#limit
    this.#limit = 0
    const fits = this.apply(check, value, evaluated)
    this.#limit = limit
    return fits
  }

  /** The first issue that a subschema reports, with its place relative to the value. */
  reason(check: Check, value: JsonValue): string {
    const before = this.issues.length
    const limit = this.#limit
    this.#limit = before + 1
    this.apply(check, value, undefined)
    this.#limit = limit
    const [first] = this.issues.splice(before)
    if (first === undefined) return 'does not fit'
    const here = this.#path.map((name) => `/${pointerToken(String(name))}`).join('')
    return `${first.at.slice(here.length)} ${first.message}`.trim()
  }
}
