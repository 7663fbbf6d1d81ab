import { isObject, type JsonObject, type JsonValue } from '../../json.js'
import type { SchemaGraph } from '../graph.js'
import { ASSERTIONS, type CheckOptions } from './assertions.js'
import { branchChecks, everyOf } from './branches.js'
import { leftoverCheck, partChecks } from './parts.js'
import type { Check, Evaluated } from './run.js'

/**
 * Makes a schema ready as closures, in microseconds. A validator that writes code needs milliseconds to seconds for
 * schemas of hostile shape, and code made of a stranger's words needs `eval`, which browsers can forbid.
 *
 * @param graph the schema's subschemas with their references resolved
 */
export function compileSchemaCheck(root: JsonObject, graph: SchemaGraph, options: CheckOptions): Check {
  const ready = new Map<JsonObject, Check>()

  const compile = (schema: JsonValue): Check => {
    if (!isObject(schema)) return schema === false ? never : always
    let check = ready.get(schema)
    if (check === undefined) {
      check = build(schema)
      ready.set(schema, check)
    }
    return check
  }

  const build = (schema: JsonObject): Check => {
    const { keywords = schema, target } = graph.get(schema) ?? {}
    const assertions = Object.entries(keywords).flatMap(
      ([name, given]) => ASSERTIONS.get(name)?.(given, keywords, options) ?? [],
    )
    // Followed when it is met: a schema may refer to itself, and a chain of references be longer than the stack.
    const referred: Check[] =
      target === undefined ? [] : [(value, run, evaluated) => run.apply(compile(target), value, evaluated)]
    const checks = [
      ...assertions,
      ...referred,
      ...branchChecks(keywords, compile),
      ...partChecks(keywords, compile, options),
    ]
    const leftover = leftoverCheck(keywords, compile)
    const check = leftover ? withLeftover(everyOf(checks), leftover) : everyOf(checks)
    return keywords.nullable === true ? orNull(check) : check
  }

  return compile(root)
}

/** Only here what has been looked at must be known; it is told to the schema outside, which may ask too. */
function withLeftover(others: Check, leftover: Check): Check {
  return (value, run, evaluated) => {
    const looked: Evaluated = new Set()
    if (!others(value, run, looked) || !leftover(value, run, looked)) return false
    run.spend(looked.size)
    for (const name of looked) evaluated?.add(name)
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
