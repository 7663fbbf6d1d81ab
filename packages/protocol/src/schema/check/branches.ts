import { isObject, type JsonObject, type JsonValue } from '../../json.js'
import { dependentMembers } from './assertions.js'
import type { Check, Evaluated, Run } from './run.js'

/** Number of alternatives to give a reason for, if none matches. */
const MAX_REASONS = 3

/** Keywords that apply subschemas to the value itself. */
export function branchChecks(schema: JsonObject, compile: (schema: JsonValue) => Check): Check[] {
  const checks: Check[] = []
  if (Array.isArray(schema.allOf)) checks.push(allOf(schema.allOf.map(compile)))
  if (Array.isArray(schema.anyOf)) checks.push(anyOf(schema.anyOf.map(compile)))
  if (Array.isArray(schema.oneOf)) checks.push(oneOf(schema.oneOf.map(compile)))
  if (schema.not !== undefined) checks.push(not(compile(schema.not)))
  if (schema.if !== undefined)
    checks.push(conditional(compile(schema.if), compile(schema.then ?? true), compile(schema.else ?? true)))
  for (const rules of [schema.dependentSchemas, schema.dependencies]) {
    if (isObject(rules)) checks.push(...dependent(rules, compile))
  }
  return checks
}

function allOf(branches: Check[]): Check {
  return everyOf(branches.map((branch) => (value, run, evaluated) => run.apply(branch, value, evaluated)))
}

/** All checks must pass. Continues after a failure while more issues can be reported. */
export function everyOf(checks: readonly Check[]): Check {
  return (value, run, evaluated) => {
    run.spend(checks.length)
    let fits = true
    for (const check of checks) {
      if (!check(value, run, evaluated)) fits = false
      if (!fits && !run.canReportMore) return false
    }
    return fits
  }
}

function anyOf(branches: Check[]): Check {
  return (value, run, evaluated) => {
    // If one matches, the others matter only for the parts that they evaluate.
    const fits = evaluated
      ? branches.filter((branch) => fitsAndRecords(branch, value, run, evaluated)).length > 0
      : branches.some((branch) => run.fits(branch, value))
    return fits || failAll(branches, value, run)
  }
}

function oneOf(branches: Check[]): Check {
  return (value, run, evaluated) => {
    const [first, second] = branches.filter((branch) => run.fits(branch, value))
    if (first === undefined) return failAll(branches, value, run)
    if (second !== undefined) return run.fail('must match exactly one of the alternatives, but matches several')
    return evaluated === undefined || fitsAndRecords(first, value, run, evaluated)
  }
}

function not(check: Check): Check {
  return (value, run) => !run.fits(check, value) || run.fail('must not match the schema in "not"')
}

function conditional(condition: Check, consequence: Check, alternative: Check): Check {
  return (value, run, evaluated) =>
    run.apply(fitsAndRecords(condition, value, run, evaluated) ? consequence : alternative, value, evaluated)
}

/** `dependencies` of older drafts has both lists of names and schemas. */
function dependent(rules: JsonObject, compile: (schema: JsonValue) => Check): Check[] {
  return Object.entries(rules).map(([name, rule]) => {
    const check = Array.isArray(rule) ? dependentMembers({ [name]: rule }) : compile(rule)
    return (value, run, evaluated) =>
      !isObject(value) || !Object.hasOwn(value, name) || run.apply(check, value, evaluated)
  })
}

/** Whether a branch matches; the parts that it evaluates count only then. */
function fitsAndRecords(branch: Check, value: JsonValue, run: Run, evaluated: Evaluated | undefined): boolean {
  if (evaluated === undefined) return run.fits(branch, value)
  const seen: Evaluated = new Set()
  if (!run.fits(branch, value, seen)) return false
  run.spend(seen.size)
  for (const name of seen) evaluated.add(name)
  return true
}

function failAll(branches: Check[], value: JsonValue, run: Run): false {
  if (!run.canReportMore) return false
  const reasons = branches.slice(0, MAX_REASONS).map((branch) => run.reason(branch, value))
  return run.fail(branches.length === 0 ? 'matches no alternative' : [...new Set(reasons)].join(', or '))
}
