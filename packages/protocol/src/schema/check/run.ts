import type { Issue } from '../../errors.js'
import { type JsonValue, pointerToken } from '../../json.js'

/** Steps of checking one value, each up to a hundred nanoseconds; values that people send need a hundredth. */
const MAX_STEPS = 1_000_000
/** Subschemas inside each other: values of 64 levels, and what a schema applies to each of them in place. */
const MAX_DEPTH = 1000
/** As many as help whoever sent the value. */
export const MAX_ISSUES = 20

/** Thrown by a check that takes more than it may. */
export class WorkExceeded extends Error {}

/** Members and items that some subschema has looked at: what `unevaluatedProperties` and `unevaluatedItems` leave. */
export type Evaluated = Set<string | number>

/** A schema, or one keyword of it, made ready: whether the value fits. What does not is told to the run. */
export type Check = (value: JsonValue, run: Run, evaluated: Evaluated | undefined) => boolean

/**
 * The state of checking one value. Both the schema and the value can come from the same attacker, and what is known of
 * a schema in advance is no bound on what it does to a value (recursion inside recursion, a thousand patterns on each
 * of a thousand items), so the work is counted while it is done.
 */
export class Run {
  readonly issues: Issue[] = []
  #steps: number
  #depth = 0
  /** How many issues may still be told; none while only yes or no is asked. */
  #limit = MAX_ISSUES
  readonly #path: (string | number)[] = []

  constructor(maxSteps = MAX_STEPS) {
    this.#steps = maxSteps
  }

  /** Counts work in advance; throws when it is too much. */
  spend(steps: number): void {
    this.#steps -= steps
    if (this.#steps < 0) throw new WorkExceeded()
  }

  /** Says why the value, or a member of it, does not fit; false, for the check to return. */
  fail(message: string, ...member: string[]): false {
    if (this.isCurious) {
      const at = [...this.#path, ...member].map((name) => `/${pointerToken(String(name))}`).join('')
      this.issues.push({ at, message })
    }
    return false
  }

  /** Whether a check that has failed should go on, because one more failure can be told. */
  get isCurious(): boolean {
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

  /** Whether a subschema fits, without telling why not. */
  fits(check: Check, value: JsonValue, evaluated?: Evaluated): boolean {
    const limit = this.#limit
    this.#limit = 0
    const fits = this.apply(check, value, evaluated)
    this.#limit = limit
    return fits
  }

  /** The first reason why a subschema does not fit. */
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
