import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Issue } from './errors.js'
import { toJsonSchema } from './io.js'
import { isObject, type JsonObject, type JsonValue } from './json.js'
import { compileLinearPattern } from './linear-pattern.js'
import { assertBoundedWork, assertSchemaSize } from './schema-bounds.js'
import { closeSchema } from './schema-closure.js'
import { readSchemaGraph, type SchemaGraph, type SchemaNode, SchemaRefused } from './schema-graph.js'
import { createSchemaCompiler, FORMATS } from './schema-compiler.js'
import { readErrors } from './validate.js'
import { createWorkBudget, WorkExceeded } from './work-budget.js'

/** Found by trying: a schema within these compiles in some milliseconds, the largest in less than a hundred. */
const SIZE = { maxValues: 4000, maxDepth: 32 }
/** Subschemas that applying a schema without recursion to one value may visit. */
const MAX_COST = 20_000
/** Steps of checking one value, each some tens of nanoseconds; values people send need a hundredth. */
const MAX_STEPS = 4_000_000
/** Instructions that the patterns of one document may compile to, about a microsecond each. */
const MAX_PATTERN_SIZE = 100_000
/** Compiled validators kept; the least recently used goes first. */
const MAX_CACHED = 500

/** What the schemas of one document may cost together; `checkPublisherSchema` uses it up. */
export interface SchemaAllowance {
  patternSize: number
}

export const createSchemaAllowance = (): SchemaAllowance => ({ patternSize: MAX_PATTERN_SIZE })

/**
 * A publisher's JSON Schema is hostile until proven otherwise. This says what is wrong with it without compiling it:
 * no `$ref` that leaves the document, bounded size, depth and validation cost, patterns of linear time only.
 */
export function checkPublisherSchema(description: JsonValue, at: string, allowance = createSchemaAllowance()): Issue[] {
  if (!isObject(description)) return [{ at, message: 'must be an object: a JSON Schema, or a map of names to types' }]
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
  assertSchema(schema, '')
  const graph = readSchemaGraph(schema, assertSchema)
  for (const node of graph.values()) assertLinearPatterns(node, allowance)
  assertBoundedWork(graph, MAX_COST)
  return graph
}

function assertLinearPatterns({ schema, at }: SchemaNode, allowance: SchemaAllowance): void {
  const ofNames = isObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : []
  for (const pattern of [schema.pattern, ...ofNames]) {
    if (typeof pattern !== 'string') continue
    const compiled = compileLinearPattern(pattern)
    if (compiled === undefined) {
      const shown = JSON.stringify(pattern.slice(0, 100))
      throw new SchemaRefused(at, `has a pattern that RE2 does not take (no lookaround, no back-references, no huge counts): ${shown}`)
    }
    allowance.patternSize -= compiled.size
    if (allowance.patternSize < 0) throw new SchemaRefused(at, 'has a pattern too many: the patterns of the document are too large')
  }
}

let meta: ReturnType<Ajv2020['getSchema']>

/** Throws unless the value is a schema by the meta-schema of 2020-12, whatever its own `$schema` says. */
function assertSchema(schema: JsonObject, at: string): void {
  meta ??= new Ajv2020({ strict: false, validateFormats: false }).getSchema('https://json-schema.org/draft/2020-12/schema')
  if (meta === undefined || meta(schema)) return
  const [first] = readErrors(meta.errors ?? [])
  throw new SchemaRefused(at + (first?.at ?? ''), `is not valid JSON Schema: ${first?.message ?? 'it breaks the meta-schema'}`)
}

/** Checks values against publishers' schemas. */
export interface PublisherSchemas {
  /** What is wrong with the value; empty if it fits. The schema has passed `checkPublisherSchema`. */
  check(description: JsonObject, value: JsonValue): Issue[]
}

type Check = (value: JsonValue) => Issue[]

/** Compiled validators in a bounded cache, shared by equal schemas. */
export function createPublisherSchemas(limit = MAX_CACHED): PublisherSchemas {
  const cache = new Map<string, Check>()
  return {
    check(description, value) {
      const key = JSON.stringify(description)
      const check = cache.get(key) ?? compile(description)
      cache.delete(key)
      cache.set(key, check)
      const [oldest] = cache.keys()
      if (cache.size > limit && oldest !== undefined) cache.delete(oldest)
      return check(value)
    },
  }
}

function compile(description: JsonObject): Check {
  const schema = toJsonSchema(description)
  const budget = createWorkBudget(MAX_STEPS)
  try {
    const closed = closeSchema(schema, inspect(schema, createSchemaAllowance()), FORMATS)
    const validate = createSchemaCompiler(budget).compile(closed)
    return (value) => {
      budget.restart()
      try {
        return validate(value) ? [] : readErrors(validate.errors ?? [])
      } catch (error) {
        // A RangeError is a stack that is used up, by a value nested deeper than any that was parsed here.
        if (error instanceof WorkExceeded || error instanceof RangeError) return [TOO_COSTLY]
        throw error
      }
    }
  } catch (error) {
    // Registration refuses such a schema; one that was stored before it did must not make calls fail as our fault.
    const reason = error instanceof SchemaRefused ? `${error.issue.at} ${error.message}`.trim() : String(error)
    return () => [{ at: '', message: `cannot be checked, because the schema of the agent is not usable: ${reason}` }]
  }
}

const TOO_COSTLY: Issue = { at: '', message: 'is too large or too deep to be checked against the schema of the agent' }
