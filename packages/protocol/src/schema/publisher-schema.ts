import type { Issue } from '../errors.js'
import { isObject, type JsonObject, type JsonValue } from '../json.js'
import { assertBoundedWork, assertSchemaSize } from './bounds.js'
import type { CheckOptions } from './check/assertions.js'
import { compileSchemaCheck } from './check/compile.js'
import { FORMATS } from './check/formats.js'
import { type Check, Run, WorkExceeded } from './check/run.js'
import { readSchemaGraph, type SchemaGraph, type SchemaNode, SchemaRefused } from './graph.js'
import { compileLinearPattern } from './linear-pattern.js'
import { isSimpleMap, toJsonSchema } from './simple-map.js'

/** Far above what people write. */
const SIZE = { maxValues: 4000, maxDepth: 32 }
/** Subschemas that applying a schema without recursion to one value may visit, and how many one inside the other. */
const WORK = { maxCost: 20_000, maxChain: 100 }
/** Instructions that the different patterns of one document may compile to, some microseconds each. */
const MAX_PATTERN_SIZE = 50_000
/** What compiling the smallest pattern costs, in instructions. */
const PATTERN_OVERHEAD = 50
/** Names of a simple map that is not worth a look. */
const SMALL_MAP = 200
/** Schemas kept ready; the least recently used goes first. */
const MAX_CACHED = 500

const OPTIONS: CheckOptions = { formats: FORMATS, compilePattern: compileLinearPattern }

/** What the schemas of one document may cost together; `checkPublisherSchema` uses it up. */
export interface SchemaAllowance {
  patternSize: number
  /** Patterns that have been paid for. */
  readonly patterns: Set<string>
}

/** What one document may spend; the schemas of a document share it. */
export const createSchemaAllowance = (): SchemaAllowance => ({ patternSize: MAX_PATTERN_SIZE, patterns: new Set() })

/**
 * A publisher's JSON Schema is hostile until proven otherwise. This says what is wrong with it without compiling it:
 * no `$ref` that leaves the document, bounded size, depth and validation cost, patterns of linear time only.
 */
export function checkPublisherSchema(description: JsonValue, at: string, allowance = createSchemaAllowance()): Issue[] {
  if (!isObject(description)) return [{ at, message: 'must be an object: a JSON Schema, or a map of names to types' }]
  // A small map compiles to a schema that nobody outside has written: there is nothing hostile in it.
  if (isSimpleMap(description) && Object.keys(description).length <= SMALL_MAP) return []
  try {
    inspect(toJsonSchema(description), allowance)
    return []
  } catch (error) {
    if (!(error instanceof SchemaRefused)) throw error
    return [{ at: at + error.issue.at, message: error.issue.message }]
  }
}

/** Throws `SchemaRefused`, or gives the subschemas. */
function inspect(schema: JsonObject, allowance: SchemaAllowance): SchemaGraph {
  assertSchemaSize(schema, SIZE)
  const graph = readSchemaGraph(schema)
  for (const node of graph.values()) assertLinearPatterns(node, allowance)
  assertBoundedWork(graph, WORK)
  return graph
}

function assertLinearPatterns({ keywords, at }: SchemaNode, allowance: SchemaAllowance): void {
  const ofNames = isObject(keywords.patternProperties) ? Object.keys(keywords.patternProperties) : []
  for (const pattern of [keywords.pattern, ...ofNames]) {
    if (typeof pattern !== 'string' || allowance.patterns.has(pattern)) continue
    if (allowance.patternSize < 0)
      throw new SchemaRefused(at, 'has a pattern too many: those of the document are too large together')
    const compiled = compileLinearPattern(pattern)
    if (compiled === undefined) {
      const shown = JSON.stringify(pattern.slice(0, 100))
      throw new SchemaRefused(
        at,
        `has a pattern that RE2 does not take (no lookaround, no back-references, no huge counts): ${shown}`,
      )
    }
    allowance.patternSize -= compiled.size + PATTERN_OVERHEAD
    allowance.patterns.add(pattern)
  }
}

/** Checks values against publishers' schemas. */
export interface PublisherSchemas {
  /**
   * What is wrong with the value; empty if it fits. The schema has passed `checkPublisherSchema`. A value that takes
   * more than `maxSteps` to check counts as wrong.
   */
  check(description: JsonObject, value: JsonValue, maxSteps?: number): Issue[]
}

/** Schemas made ready in a bounded cache, shared by equal ones. Descriptions do not change once they were given. */
export function createPublisherSchemas(limit = MAX_CACHED): PublisherSchemas {
  const byText = new Map<string, Check>()
  // To write a description out, in order to find its equals, costs more than most checks.
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
    // Registration refuses such a schema; one that was stored before it did must not make calls fail as our fault.
    const reason = `${error.issue.at} ${error.issue.message}`.trim()
    return (_, run) => run.fail(`cannot be checked, because the schema of the agent is not usable: ${reason}`)
  }
}

function runCheck(check: Check, value: JsonValue, maxSteps: number | undefined): Issue[] {
  const run = new Run(maxSteps)
  try {
    run.apply(check, value, undefined)
    return run.issues
  } catch (error) {
    // A RangeError is a stack used up: the caller's own calls may have left little of it.
    if (error instanceof WorkExceeded || error instanceof RangeError) return [TOO_COSTLY]
    throw error
  }
}

const TOO_COSTLY: Issue = { at: '', message: 'is too large or too deep to be checked against the schema of the agent' }
