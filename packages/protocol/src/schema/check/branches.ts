import { isObject, type JsonObject, type JsonValue } from '../../json.js'
import { dependentMembers } from './assertions.js'
import type { Check, Evaluated, Run } from './run.js'

/** Alternatives whose reasons are told when none fits. */
const TOLD_ALTERNATIVES = 3

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

/** All of them hold; goes on after a failure as long as there is more to tell. */
export function everyOf(checks: readonly Check[]): Check {
  return (value, run, evaluated) => {
    run.spend(checks.length)
    let fits = true
    for (const check of checks) {
      if (!check(value, run, evaluated)) fits = false
      if (!fits && !run.isCurious) return false
    }
    return fits
  }
}

function anyOf(branches: Check[]): Check {
  return (value, run, evaluated) => {
    // Once one fits, the others matter only for what they look at.
    const fits = evaluated
      ? branches.filter((branch) => fitsAndTells(branch, value, run, evaluated)).length > 0
      : branches.some((branch) => run.fits(branch, value))
    return fits || failAll(branches, value, run)
  }
}

function oneOf(branches: Check[]): Check {
  return (value, run, evaluated) => {
    const [first, second] = branches.filter((branch) => run.fits(branch, value))
    if (first === undefined) return failAll(branches, value, run)
    if (second !== undefined) return run.fail('fits more than one of the alternatives')
    return evaluated === undefined || fitsAndTells(first, value, run, evaluated)
  }
}

function not(check: Check): Check {
  return (value, run) => !run.fits(check, value) || run.fail('fits a schema that it must not fit')
}

function conditional(condition: Check, consequence: Check, alternative: Check): Check {
  return (value, run, evaluated) =>
    run.apply(fitsAndTells(condition, value, run, evaluated) ? consequence : alternative, value, evaluated)
}

/** Older drafts write names and schemas alike into `dependencies`. */
function dependent(rules: JsonObject, compile: (schema: JsonValue) => Check): Check[] {
  return Object.entries(rules).map(([name, rule]) => {
    const check = Array.isArray(rule) ? dependentMembers({ [name]: rule }) : compile(rule)
    return (value, run, evaluated) =>
      !isObject(value) || !Object.hasOwn(value, name) || run.apply(check, value, evaluated)
  })
}

/** What a branch has looked at counts only if it fits. */
function fitsAndTells(branch: Check, value: JsonValue, run: Run, evaluated: Evaluated | undefined): boolean {
  if (evaluated === undefined) return run.fits(branch, value)
  const looked: Evaluated = new Set()
  if (!run.fits(branch, value, looked)) return false
  run.spend(looked.size)
  for (const name of looked) evaluated.add(name)
  return true
}

function failAll(branches: Check[], value: JsonValue, run: Run): false {
  if (!run.isCurious) return false
  const reasons = branches.slice(0, TOLD_ALTERNATIVES).map((branch) => run.reason(branch, value))
  return run.fail(branches.length === 0 ? 'fits nothing' : [...new Set(reasons)].join(', or '))
}
