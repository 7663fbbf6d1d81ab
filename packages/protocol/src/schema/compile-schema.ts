import { type Issue, invalid } from '../errors.js'
import { capabilityNameProblem, isAbsoluteUri, isEndpoint } from '../identifiers.js'
import type { JsonObject, JsonValue } from '../json.js'
import { parseTimestamp } from '../timestamps.js'
import type { CheckOptions } from './check/assertions.js'
import { compileSchemaCheck } from './check/compile.js'
import { type Format, stringFormat } from './check/formats.js'
import { type Check, MAX_ISSUES, Run } from './check/run.js'
import { readSchemaGraph } from './graph.js'

/** The formats of our own schemas. */
const FORMATS: ReadonlyMap<string, Format> = new Map([
  [
    'date-time',
    stringFormat(
      (text) => parseTimestamp(text) !== undefined,
      'must be an RFC 3339 timestamp such as "2026-05-08T00:00:00Z"',
    ),
  ],
  ['absolute-uri', stringFormat(isAbsoluteUri, 'must be an absolute URI such as "https://agents.example.com/a"')],
  [
    'endpoint',
    stringFormat(
      isEndpoint,
      'must be an absolute URL such as "https://agents.example.com/a", or a path that starts with "/"',
    ),
  ],
  [
    'capability-name',
    stringFormat(
      (text) => capabilityNameProblem(text) === undefined,
      'must be a name of 1 to 255 characters, without "*" and control characters',
    ),
  ],
])

const OPTIONS: CheckOptions = {
  formats: FORMATS,
  compilePattern: (pattern) => {
    const compiled = new RegExp(pattern, 'u')
    return { size: 1, test: (text) => compiled.test(text) }
  },
}

/**
 * Compiles one of our own schemas, on first use. The returned function lists what is wrong with a value: the first 20
 * issues, or none if the value fits.
 */
export function compileSchema(schema: JsonObject): (value: JsonValue) => Issue[] {
  let check: Check | undefined
  return (value) => {
    check ??= prepare(schema)
    const run = new Run(Number.POSITIVE_INFINITY)
    run.apply(check, value, undefined)
    return run.issues
  }
}

/** Compiles one of our own schemas to a function that says whether a value fits. */
export function compileFit(schema: JsonObject): (value: JsonValue) => boolean {
  const check = prepare(schema)
  return (value) => new Run(Number.POSITIVE_INFINITY).fits(check, value)
}

const prepare = (schema: JsonObject): Check => compileSchemaCheck(schema, readSchemaGraph(schema), OPTIONS)

/** Throws an `invalid_request` that names every member at fault. */
export function assertValid(issues: Issue[]): void {
  if (issues.length > 0) throw invalid(issues.slice(0, MAX_ISSUES))
}
