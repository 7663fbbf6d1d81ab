import type { Issue } from '../errors.js'
import { isObject, type JsonObject, type JsonValue } from '../json.js'
import { assertBoundedWork, assertSchemaSize } from './bounds.js'
import type { CheckOptions } from './check/assertions.js'
import { compileSchemaCheck } from './check/compile.js'
import { FORMATS } from './check/formats.js'
import { type Check, Run, WorkExceeded } from './check/run.js'
import { readSchemaGraph, type SchemaGraph, type SchemaNode, SchemaRefused } from './graph.js'
import { isKnownKeyword, isRestriction } from './keywords.js'
import { compileLinearPattern } from './linear-pattern.js'
import { isSimpleMap, toJsonSchema } from './simple-map.js'

/** Far more than real schemas need. */
const SIZE = { maxValues: 4000, maxDepth: 32 }
/** Subschemas that a schema without recursion may apply to one value, in total and nested in each other. */
const WORK = { maxCost: 20_000, maxChain: 100 }
/** Total size of the compiled patterns of one document, in instructions of some microseconds each. */
const MAX_PATTERN_SIZE = 50_000
/** Cost of compiling the smallest pattern, in instructions. */
const PATTERN_OVERHEAD = 50
/** Simple maps up to this size need no check. */
const SMALL_MAP = 200
/** Size of the cache of compiled schemas; the least recently used is dropped first. */
const MAX_CACHED = 500

const OPTIONS: CheckOptions = { formats: FORMATS, compilePattern: compileLinearPattern }

/** The budget that the schemas of one document share; `checkPublisherSchema` spends it. */
export interface SchemaAllowance {
  patternSize: number
  /** Patterns that have been counted. */
  readonly patterns: Set<string>
}

/** Creates the budget for the schemas of one document. */
export const createSchemaAllowance = (): SchemaAllowance => ({ patternSize: MAX_PATTERN_SIZE, patterns: new Set() })

/**
 * Checks a publisher's JSON Schema, which is untrusted, without compiling it: references stay in the document, size,
 * depth and validation cost are bounded, patterns take linear time. Returns the issues; empty if it is accepted.
 */
export function checkPublisherSchema(description: JsonValue, at: string, allowance = createSchemaAllowance()): Issue[] {
  if (!isObject(description)) return [{ at, message: 'must be an object: a JSON Schema, or a map of names to types' }]
  // A small map becomes a schema of our own making, which is harmless.
  if (isSimpleMap(description) && Object.keys(description).length <= SMALL_MAP) return []
  try {
    inspect(toJsonSchema(description), allowance)
    return []
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error
    return [{ at: at + error.issue.at, message: error.issue.message }]
  }
}

/** Returns the subschemas, or throws `SchemaRefused`. */
function inspect(schema: JsonObject, allowance: SchemaAllowance): SchemaGraph {
  assertSchemaSize(schema, SIZE)
  const graph = readSchemaGraph(schema)
  for (const node of graph.values()) assertLinearPatterns(node, allowance)
  assertBoundedWork(graph, WORK)
  return graph
}

function assertLinearPatterns({ keywords, at }: SchemaNode, allowance: SchemaAllowance): void {
  const namePatterns = isObject(keywords.patternProperties) ? Object.keys(keywords.patternProperties) : []
  for (const pattern of [keywords.pattern, ...namePatterns]) {
    if (typeof pattern !== 'string' || allowance.patterns.has(pattern)) continue
    if (allowance.patternSize < 0)
      throw new SchemaRefused(at, 'has one pattern too many: the patterns of the document are too large in total')
    const compiled = compileLinearPattern(pattern)
    if (compiled === undefined) {
      const shown = JSON.stringify(pattern.slice(0, 100))
      throw new SchemaRefused(
        at,
        `has a pattern that RE2 does not support (no lookaround, no back-references, no huge counts): ${shown}`,
      )
    }
    allowance.patternSize -= compiled.size + PATTERN_OVERHEAD
    allowance.patterns.add(pattern)
  }
}

/** Checks values against publishers' schemas. */
export interface PublisherSchemas {
  /**
   * Checks a value against a schema that has passed `checkPublisherSchema`. Returns the issues; empty if it fits. A
   * value that takes more than `maxSteps` to check does not fit.
   */
  check(description: JsonObject, value: JsonValue, maxSteps?: number): Issue[]
}

/** Creates a checker with a bounded cache of compiled schemas. Descriptions must not be modified after use. */
export function createPublisherSchemas(limit = MAX_CACHED): PublisherSchemas {
  const byText = new Map<string, Check>()
  // Serializing a description, to find equal ones, costs more than most checks.
  const byIdentity = new Map<JsonObject, Check>()
  const find = (description: JsonObject): Check => {
    const text = JSON.stringify(description)
    const check = byText.get(text) ?? compile(description)
    byText.delete(text)
    byText.set(text, check)
    dropOldest(byText, limit)
    byIdentity.set(description, check)
    dropOldest(byIdentity, limit)
    return check
  }
  return {
    check: (description, value, maxSteps) =>
      runCheck(byIdentity.get(description) ?? find(description), value, maxSteps),
  }
}

function dropOldest<K>(cache: Map<K, unknown>, limit: number): void {
  const [oldest] = cache.keys()
  if (cache.size > limit && oldest !== undefined) cache.delete(oldest)
}

function compile(description: JsonObject): Check {
  const schema = toJsonSchema(description)
  try {
    return compileSchemaCheck(schema, inspect(schema, createSchemaAllowance()), OPTIONS)
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error
    // Registration rejects such schemas. One that was stored earlier must not look like an error of the directory.
    const reason = `${error.issue.at} ${error.issue.message}`.trim()
    return (_, run) => run.fail(`cannot be checked: the schema of the agent is not usable: ${reason}`)
  }
}

function runCheck(check: Check, value: JsonValue, maxSteps: number | undefined): Issue[] {
  const run = new Run(maxSteps)
  try {
    run.apply(check, value, undefined)
    return run.issues
  } catch (error) {
    // A RangeError is a stack overflow: the caller may have used most of the stack.
    if (error instanceof WorkExceeded || error instanceof RangeError) return [TOO_COSTLY]
    throw error
  }
}

const TOO_COSTLY: Issue = { at: '', message: 'is too large or too deep to be checked against the schema of the agent' }

/** One part of a schema that is accepted but ignored, or read differently than it is written. */
export interface SchemaAdvice {
  /** JSON pointer from the schema. */
  readonly at: string
  readonly message: string
}

/** Formats that have nothing to check. */
const UNCHECKED_FORMATS = new Set(['float', 'double', 'password', 'binary', 'idn-hostname'])

/**
 * Says what the checker ignores in a publisher's schema, or reads in a way of its own. The schema has passed
 * `checkPublisherSchema`.
 */
export function lintSchema(description: JsonObject): SchemaAdvice[] {
  if (isSimpleMap(description)) return []
  const advice: SchemaAdvice[] = []
  for (const node of readSchemaGraph(description).values()) {
    if (node.keywords !== node.schema) advice.push(...siblingAdvice(node))
    for (const name of Object.keys(node.keywords)) {
      const message = keywordMessage(node.keywords, name)
      if (message !== undefined) advice.push({ at: `${node.at}/${name}`, message })
    }
  }
  return advice
}

/** Up to draft-07, a `$ref` overrides the keywords beside it. */
function siblingAdvice({ schema, keywords, at }: SchemaNode): SchemaAdvice[] {
  return Object.keys(schema)
    .filter((name) => schema[name] !== null && !Object.hasOwn(keywords, name) && isRestriction(name))
    .map((name) => ({ at: `${at}/${name}`, message: 'is ignored: in draft-07, $ref overrides the keywords beside it' }))
}

function keywordMessage(keywords: JsonObject, name: string): string | undefined {
  const value = keywords[name]
  switch (name) {
    case 'type':
      if (names(value, 'any')) return '"any" is not a type of JSON Schema: leave out "type" to allow any value'
      if (names(value, 'file')) return '"file" is not a type of JSON Schema: it is read as "string"'
      return undefined
    case 'required':
      return typeof value === 'boolean' ? 'is ignored: name the member in "required" of the object' : undefined
    case 'exclusiveMinimum':
      return value === true && keywords.minimum === undefined ? 'is ignored without "minimum"' : undefined
    case 'exclusiveMaximum':
      return value === true && keywords.maximum === undefined ? 'is ignored without "maximum"' : undefined
    case 'format':
      return typeof value === 'string' && !FORMATS.has(value) && !UNCHECKED_FORMATS.has(value)
        ? `${JSON.stringify(value)} is not a known format and is not checked`
        : undefined
    default:
      return isKnownKeyword(name) ? undefined : 'is not a keyword of JSON Schema and is ignored'
  }
}

/** Whether a `type` is this type, or a list with it. */
const names = (type: JsonValue | undefined, name: string): boolean =>
  type === name || (Array.isArray(type) && type.includes(name))
