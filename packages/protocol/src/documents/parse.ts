import { DirectoryError, type Issue } from '../errors.js'
import { agentNameProblem } from '../identifiers.js'
import { isObject, type JsonObject, type JsonValue } from '../json.js'
import { assertValid, compileSchema } from '../schema/compile-schema.js'
import { checkPublisherSchema, createSchemaAllowance } from '../schema/publisher-schema.js'
import { fromOpenApi } from './openapi/from-openapi.js'
import { isOpenApi } from './openapi/is-openapi.js'
import type { DocumentFormat } from './record.js'
import { directoryUpdateSchema } from './schemas/directory.js'
import { discoveryRequestSchema } from './schemas/profile.js'
import { repeatedNames, type Strictness, validateMembers, withoutRepeats } from './validate-members.js'

const checkDirectoryUpdate = compileSchema(directoryUpdateSchema)
const checkDiscoveryRequest = compileSchema(discoveryRequestSchema)

/** Validates a document, including the JSON Schemas in it. Returns the issues; empty if it is valid. */
export function validateDocument(format: DocumentFormat, value: JsonValue, strictness: Strictness = {}): Issue[] {
  const issues = validateMembers(format, value, strictness)
  return isObject(value) ? withoutRepeats(issues, schemaIssues(value)) : issues
}

/**
 * Returns the document if it is valid, an OpenAPI description as AIDIP metadata, and throws an `invalid_request` that lists every
 * issue otherwise.
 */
export function parseDocument(format: DocumentFormat, value: JsonValue, strictness: Strictness = {}): JsonObject {
  const document = format === 'aidip' && isObject(value) && isOpenApi(value) ? fromOpenApi(value) : value
  assertValid(validateDocument(format, document, strictness))
  return requireObject(document)
}

/** Parses the body of an update in the Agent Directory: any members of a registration (C-37). */
export function parseDirectoryUpdate(value: JsonValue): JsonObject {
  const issues = checkDirectoryUpdate(value)
  assertValid(issues.length > 0 || !isObject(value) ? issues : [...repeatedNames(value), ...schemaIssues(value)])
  return requireObject(value)
}

/** A discovery request of the profile. */
export interface DiscoveryRequest {
  query: string
  required_tags?: string[]
  preferred_tags?: string[]
  excluded_tags?: string[]
  protocols?: string[]
  constraints?: JsonObject
  limit?: number
  include_evidence?: boolean
  /** Search for the words as they are written, without correcting typos. */
  exact?: boolean
  detail?: 'minimal' | 'summary' | 'full'
  client_context?: JsonObject
  /** Whether to ask peers of the directory too, and how many milliseconds they have. */
  federate?: boolean
  deadline_ms?: number
}

/** Parses a discovery request; throws an `invalid_request` that lists every issue. */
export function parseDiscoveryRequest(value: JsonValue): DiscoveryRequest {
  assertDiscoveryRequest(value)
  return value
}

/** The schema proves the type, which the compiler cannot see. */
function assertDiscoveryRequest(value: JsonValue): asserts value is JsonObject & DiscoveryRequest {
  assertValid(checkDiscoveryRequest(value))
}

function requireObject(value: JsonValue): JsonObject {
  if (!isObject(value)) throw new DirectoryError('invalid_request', 'the document must be an object')
  return value
}

function schemaIssues(document: JsonObject): Issue[] {
  const allowance = createSchemaAllowance()
  return [...publishedSchemas(document)].flatMap(({ schema, at }) => checkPublisherSchema(schema, at, allowance))
}

/** Parses the `agent` parameter of a registration in the Agent Directory (AD §4.1). */
export function parseAgentName(name: string | undefined): string {
  const problem = name === undefined ? 'is required: POST /ad/r?agent=NAME' : agentNameProblem(name)
  assertValid(problem === undefined ? [] : [{ at: '?agent', message: problem }])
  return name ?? ''
}

const MEMBERS = ['inputs', 'outputs', 'input_schema', 'output_schema', 'input', 'output']
const LISTS = ['operations', 'capabilities', 'skills', 'examples']

/** The JSON Schemas in a document of any draft, each with its JSON pointer. */
export function* publishedSchemas(document: JsonObject): Generator<{ schema: JsonObject; at: string }> {
  yield* schemasOf(document, '')
  for (const name of LISTS) {
    const list = document[name]
    if (!Array.isArray(list)) continue
    for (const [i, item] of list.entries()) {
      if (isObject(item)) yield* schemasOf(item, `/${name}/${i}`, name === 'examples')
    }
  }
}

function* schemasOf(value: JsonObject, at: string, isExample = false): Generator<{ schema: JsonObject; at: string }> {
  for (const name of MEMBERS) {
    const schema = value[name]
    // The `input` and `output` of an example are values, not schemas.
    if (isObject(schema) && !(isExample && (name === 'input' || name === 'output')))
      yield { schema, at: `${at}/${name}` }
  }
}
