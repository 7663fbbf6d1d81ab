import { isObject, type JsonObject, type JsonValue } from '../../json.js'
import type { SchemaGraph } from '../graph.js'
import { branchChecks, everyOf, partChecks, unevaluatedCheck } from './applicators.js'
import { ASSERTIONS, type CheckOptions } from './assertions.js'
import type { Check, Evaluated } from './run.js'

/**
 * Compiles a schema to closures, in microseconds. Generating code would take milliseconds, seconds for hostile schemas,
 * and need `eval`, which web pages can forbid.
 *
 * @param graph the schema's subschemas with their references resolved
 */
export function compileSchemaCheck(root: JsonObject, graph: SchemaGraph, options: CheckOptions): Check {
  const compiled = new Map<JsonObject, Check>()

  const compile = (schema: JsonValue): Check => {
    if (!isObject(schema)) return schema === false ? never : always
    let check = compiled.get(schema)
    if (check === undefined) {
      check = build(schema)
      compiled.set(schema, check)
    }
    return check
  }

  const build = (schema: JsonObject): Check => {
    const { keywords = schema, target } = graph.get(schema) ?? {}
    const assertions = Object.entries(keywords).flatMap(
      ([name, given]) => ASSERTIONS.get(name)?.(given, keywords, options) ?? [],
    )
    // Compiled on first use: a schema may refer to itself, and a chain of references may exceed the stack.
    const referred: Check[] =
      target === undefined ? [] : [(value, run, evaluated) => run.apply(compile(target), value, evaluated)]
    const checks = [
      ...assertions,
      ...referred,
      ...branchChecks(keywords, compile),
      ...partChecks(keywords, compile, options),
    ]
    const unevaluated = unevaluatedCheck(keywords, compile)
    const check = unevaluated ? withUnevaluated(everyOf(checks), unevaluated) : everyOf(checks)
    return keywords.nullable === true ? orNull(check) : check
  }

  return compile(root)
}

/** Records which parts the other keywords evaluate, and passes them on to the enclosing schema. */
function withUnevaluated(others: Check, unevaluated: Check): Check {
  return (value, run, evaluated) => {
    const seen: Evaluated = new Set()
    if (!others(value, run, seen) || !unevaluated(value, run, seen)) return false
    run.spend(seen.size)
    for (const name of seen) evaluated?.add(name)
    return true
  }
}

/** `nullable` of OpenAPI 3.0: null fits, whatever the other keywords say. */
const orNull =
  (check: Check): Check =>
  (value, run, evaluated) =>
    value === null || check(value, run, evaluated)

const always: Check = () => true

const never: Check = (_, run) => run.fail('is not allowed')
