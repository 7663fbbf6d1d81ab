import { isObject, type JsonObject, type JsonValue } from '../json.js'
import { compilePattern, dependentMembers } from './assertions.js'
import type { Check, Evaluated } from './run.js'

/** A keyword that applies subschemas; `compile` makes a subschema ready, once. */
type Keyword = (given: JsonValue, schema: JsonObject, compile: (schema: JsonValue) => Check) => Check | undefined

/** Keywords that apply subschemas, in the order in which they tell what does not fit. */
export const APPLIED: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['allOf', (given, _, compile) => all(asList(given).map(compile))],
  [
    'anyOf',
    (given, _, compile) => {
      const branches = asList(given).map(compile)
      return (value, run, evaluated) => {
        // Once one fits, the others matter only for what they have looked at.
        const fits = evaluated
          ? branches.filter((branch) => fitsAndTells(branch, value, run, evaluated)).length > 0
          : branches.some((branch) => run.fits(branch, value))
        return fits || run.fail(reasons(branches, value, run))
      }
    },
  ],
  [
    'oneOf',
    (given, _, compile) => {
      const branches = asList(given).map(compile)
      return (value, run, evaluated) => {
        const fitting = branches.filter((branch) => run.fits(branch, value))
        const [first, second] = fitting
        if (first === undefined) return run.fail(reasons(branches, value, run))
        if (second !== undefined) return run.fail('fits more than one of the alternatives')
        return evaluated === undefined || fitsAndTells(first, value, run, evaluated)
      }
    },
  ],
  [
    'not',
    (given, _, compile) => {
      const check = compile(given)
      return (value, run) => !run.fits(check, value) || run.fail('must not fit the schema under "not"')
    },
  ],
  [
    'if',
    (given, schema, compile) => {
      const condition = compile(given)
      const consequence = compile(schema.then ?? true)
      const alternative = compile(schema.else ?? true)
      return (value, run, evaluated) =>
        run.apply(fitsAndTells(condition, value, run, evaluated) ? consequence : alternative, value, evaluated)
    },
  ],
  ['dependentSchemas', (given, _, compile) => dependent(given, compile)],
  [
    'dependencies',
    (given, _, compile) => {
      const entries = Object.entries(isObject(given) ? given : {})
      const schemas = Object.fromEntries(entries.filter(([, rule]) => !Array.isArray(rule)))
      return all([dependentMembers(given), dependent(schemas, compile)])
    },
  ],
  ['properties', (given, schema, compile) => members(given, schema, compile)],
  ['patternProperties', (given, schema, compile) => ('properties' in schema ? undefined : members({}, { patternProperties: given, ...schema }, compile))],
  [
    'additionalProperties',
    (_, schema, compile) =>
      'properties' in schema || 'patternProperties' in schema ? undefined : members({}, schema, compile),
  ],
  [
    'propertyNames',
    (given, _, compile) => {
      const check = compile(given)
      return (value, run) =>
        !isObject(value) ||
        Object.keys(value).every((name) => run.fits(check, name) || run.fail(`may not be a member: its name ${run.reason(check, name)}`, name))
    },
  ],
  ['prefixItems', (given, schema, compile) => items(asList(given), schema.items, compile)],
  [
    'items',
    (given, schema, compile) => {
      // Older drafts write a tuple as a list here, and what comes after it as additionalItems.
      if (Array.isArray(given)) return items(given, schema.additionalItems, compile)
      return 'prefixItems' in schema ? undefined : items([], given, compile)
    },
  ],
  ['contains', (given, schema, compile) => contains(compile(given), schema)],
])

function all(checks: Check[]): Check {
  return (value, run, evaluated) => {
    let fits = true
    for (const check of checks) {
      if (!run.apply(check, value, evaluated)) fits = false
      if (!fits && !run.isCurious) return false
    }
    return fits
  }
}
