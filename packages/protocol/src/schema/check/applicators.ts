import { isObject, type JsonObject, type JsonValue } from '../../json.js'
import { type CheckOptions, dependentMembers, patternTest } from './assertions.js'
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

type Compile = (schema: JsonValue) => Check

/** Keywords that apply subschemas to members or items of the value. */
export function partChecks(schema: JsonObject, compile: Compile, options: CheckOptions): Check[] {
  const has = (...names: string[]): boolean => names.some((name) => Object.hasOwn(schema, name))
  return [
    ...(has('properties', 'patternProperties', 'additionalProperties') ? [memberCheck(schema, compile, options)] : []),
    ...(schema.propertyNames === undefined ? [] : [nameCheck(compile(schema.propertyNames))]),
    ...(has('prefixItems', 'items') ? [itemCheck(schema, compile)] : []),
    ...(schema.contains === undefined ? [] : [containsCheck(compile(schema.contains), schema)]),
  ]
}

/** `unevaluatedProperties` and `unevaluatedItems`: apply to parts that no other keyword has evaluated. */
export function unevaluatedCheck(schema: JsonObject, compile: Compile): Check | undefined {
  const { unevaluatedProperties: members, unevaluatedItems: items } = schema
  if (members === undefined && items === undefined) return undefined
  const member = members === undefined ? undefined : compile(members)
  const item = items === undefined ? undefined : compile(items)
  return (value, run, evaluated) => {
    const check = Array.isArray(value) ? item : member
    if (check === undefined || typeof value !== 'object' || value === null) return true
    let fits = true
    for (const [name, part] of partsOf(value)) {
      run.spend(1)
      if (evaluated?.has(name)) continue
      evaluated?.add(name)
      if (!run.into(name, check, part)) fits = false
      if (!fits && !run.canReportMore) return false
    }
    return fits
  }
}

function memberCheck(schema: JsonObject, compile: Compile, options: CheckOptions): Check {
  const named = new Map(
    Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([name, s]) => [name, compile(s)]),
  )
  const patterned = Object.entries(isObject(schema.patternProperties) ? schema.patternProperties : {}).flatMap(
    ([pattern, s]) => {
      const matches = patternTest(pattern, options)
      return matches ? [{ matches, check: compile(s) }] : []
    },
  )
  const { additionalProperties } = schema
  const additional =
    additionalProperties === undefined
      ? undefined
      : additionalProperties === false
        ? unknownMember
        : compile(additionalProperties)
  return (value, run, evaluated) => {
    if (!isObject(value)) return true
    let fits = true
    for (const name of Object.keys(value)) {
      const part = value[name]
      if (part === undefined) continue
      run.spend(1)
      const own = named.get(name)
      let isNamed = own !== undefined
      if (own && !run.into(name, own, part)) fits = false
      for (const { matches, check } of patterned) {
        if (!matches(name, run)) continue
        isNamed = true
        if (!run.into(name, check, part)) fits = false
      }
      if (!isNamed && additional && !run.into(name, additional, part)) fits = false
      if (isNamed || additional) evaluated?.add(name)
      if (!fits && !run.canReportMore) return false
    }
    return fits
  }
}

const unknownMember: Check = (_, run) => run.fail('is not a known member')

function nameCheck(check: Check): Check {
  return (value, run) => {
    if (!isObject(value)) return true
    const wrong = Object.keys(value).find((name) => !run.fits(check, name))
    return wrong === undefined || run.fail(`is not an allowed name: it ${run.reason(check, wrong)}`, wrong)
  }
}

function itemCheck(schema: JsonObject, compile: Compile): Check {
  // Older drafts write a tuple as a list in `items`, and the schema of further items in `additionalItems`.
  const isOldTuple = Array.isArray(schema.items)
  const tuple = isOldTuple ? schema.items : schema.prefixItems
  const others = isOldTuple ? schema.additionalItems : schema.items
  const first = Array.isArray(tuple) ? tuple.map(compile) : []
  const rest = others === undefined ? undefined : compile(others)
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true
    let fits = true
    for (let i = 0; i < value.length; i++) {
      const check = first[i] ?? rest
      if (check === undefined) break
      evaluated?.add(i)
      if (!run.into(i, check, value[i] ?? null)) fits = false
      if (!fits && !run.canReportMore) return false
    }
    return fits
  }
}

function containsCheck(check: Check, { minContains, maxContains }: JsonObject): Check {
  const min = typeof minContains === 'number' ? minContains : 1
  const max = typeof maxContains === 'number' ? maxContains : Number.POSITIVE_INFINITY
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true
    let found = 0
    for (const [i, item] of value.entries()) {
      if (!run.fits(check, item)) continue
      found++
      evaluated?.add(i)
      if (found > max) return run.fail(`must have at most ${max} items that match "contains"`)
      // Stop early, unless every evaluated item has to be recorded.
      if (found >= min && max === Number.POSITIVE_INFINITY && evaluated === undefined) return true
    }
    return found >= min || run.fail(`must have at least ${min} items that match "contains"`)
  }
}

function* partsOf(value: JsonValue[] | JsonObject): Generator<[string | number, JsonValue]> {
  if (Array.isArray(value)) yield* value.entries()
  else yield* Object.entries(value)
}
