import { isObject, type JsonObject, type JsonValue } from '../../json.js'
import { type CheckOptions, patternTest } from './assertions.js'
import type { Check } from './run.js'

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
    for (const [i, item] of value.entries()) {
      const check = first[i] ?? rest
      if (check === undefined) break
      evaluated?.add(i)
      if (!run.into(i, check, item)) fits = false
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
