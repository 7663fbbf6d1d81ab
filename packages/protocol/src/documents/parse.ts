import { DirectoryError, type Issue } from '../errors.js'
import { agentNameProblem, idProblem } from '../identifiers.js'
import { isObject, type JsonObject, type JsonValue, pointerToken } from '../json.js'
import { assertValid, compileSchema } from '../schema/compile-schema.js'
import { checkPublisherSchema, createSchemaAllowance } from '../schema/publisher-schema.js'
import type { DocumentFormat } from './record.js'
import { directoryUpdateSchema } from './schemas/directory.js'
import { FORMAT_SCHEMAS, isKnownMember } from './schemas/formats.js'
import { discoveryRequestSchema } from './schemas/profile.js'

/** How strict an operator wants documents to be (CONTRACT: `policy`). */
export interface Strictness {
  /** AIDIP §3.1 read to the letter: version, publisher and tags are required too (C-07). */
  strict01?: boolean
  /** AIDIP capabilities may be objects with a name (C-10). */
  lenientCapabilities?: boolean
  /** Members no draft knows are refused instead of kept (PROF §4.7). */
  refuseUnknownMembers?: boolean
}

const CHECKS: Record<DocumentFormat, (value: JsonValue) => Issue[]> = {
  aidip: compileSchema(FORMAT_SCHEMAS.aidip),
  profile: compileSchema(FORMAT_SCHEMAS.profile),
  directory: compileSchema(FORMAT_SCHEMAS.directory),
  descriptor: compileSchema(FORMAT_SCHEMAS.descriptor),
  a2a: compileSchema(FORMAT_SCHEMAS.a2a),
  mcp: compileSchema(FORMAT_SCHEMAS.mcp),
}
const checkDirectoryUpdate = compileSchema(directoryUpdateSchema)
const checkDiscoveryRequest = compileSchema(discoveryRequestSchema)

/** What is wrong with a document of that face; empty if nothing is. */
export function validateDocument(format: DocumentFormat, value: JsonValue, strictness: Strictness = {}): Issue[] {
  const lenient = format === 'aidip' && strictness.lenientCapabilities && isObject(value) ? withNames(value) : value
  const issues = CHECKS[format](lenient)
  if (!isObject(value)) return issues
  const more = [
    ...(format === 'aidip' ? aidipIssues(value, strictness) : []),
    ...(format === 'directory' ? repeatedNames(value) : []),
    ...idIssues(value.id),
    ...schemaIssues(value),
    ...(strictness.refuseUnknownMembers ? unknownMembers(value) : []),
  ]
  // A wrong type has been reported once; saying it again in other words helps nobody.
  const told = new Set(issues.map(({ at }) => at))
  return [...issues, ...more.filter(({ at }) => !told.has(at))]
}

/** A document of that face, or an `invalid_request` that names every member at fault. */
export function parseDocument(format: DocumentFormat, value: JsonValue, strictness: Strictness = {}): JsonObject {
  assertValid(validateDocument(format, value, strictness))
  return requireObject(value)
}

/** The body of an update in the Agent Directory: any of the members of a registration (C-37). */
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
  detail?: 'minimal' | 'summary' | 'full'
  client_context?: JsonObject
}

/** A discovery request, or an `invalid_request` that names every member at fault. */
export function parseDiscoveryRequest(value: JsonValue): DiscoveryRequest {
  assertDiscoveryRequest(value)
  return value
}

/** The schema is the proof, which Ajv cannot express to the compiler. */
function assertDiscoveryRequest(value: JsonValue): asserts value is JsonObject & DiscoveryRequest {
  assertValid(checkDiscoveryRequest(value))
}

function requireObject(value: JsonValue): JsonObject {
  if (!isObject(value)) throw new DirectoryError('invalid_request', 'the document must be an object')
  return value
}

function aidipIssues(document: JsonObject, strictness: Strictness): Issue[] {
  const issues: Issue[] = []
  const hasInputs = 'inputs' in document || 'input_schema' in document
  const hasOutputs = 'outputs' in document || 'output_schema' in document
  if (!('operations' in document)) {
    const how = 'describe input and output by operations, or by inputs and outputs'
    if (!hasInputs && !hasOutputs) issues.push({ at: '/operations', message: `is required: ${how}` })
    else if (!hasInputs) issues.push({ at: '/inputs', message: `is required beside outputs: ${how}` })
    else if (!hasOutputs) issues.push({ at: '/outputs', message: `is required beside inputs: ${how}` })
  }
  const has = (name: string): boolean => Array.isArray(document[name]) && document[name].length > 0
  if (Array.isArray(document.capabilities) && !has('capabilities') && !has('tags') && !has('operations')) {
    issues.push({
      at: '/capabilities',
      message: 'must not be empty unless tags or operations tell what the agent does',
    })
  }
  for (const name of strictness.strict01 ? ['version', 'publisher', 'tags'] : []) {
    if (!(name in document)) issues.push({ at: `/${name}`, message: 'is required by the policy of this directory' })
  }
  return issues
}

/** Under the lenient policy an object with a name stands for its name. */
const withNames = (document: JsonObject): JsonObject => ({
  ...document,
  ...(Array.isArray(document.capabilities) && {
    capabilities: document.capabilities.map((item) =>
      isObject(item) && typeof item.name === 'string' ? item.name : item,
    ),
  }),
})

const idIssues = (id: JsonValue | undefined): Issue[] => {
  const problem = typeof id === 'string' && id !== '' ? idProblem(id) : undefined
  return problem === undefined ? [] : [{ at: '/id', message: problem }]
}

function repeatedNames(document: JsonObject): Issue[] {
  const seen = new Set<unknown>()
  const capabilities = Array.isArray(document.capabilities) ? document.capabilities : []
  return capabilities.flatMap((item, i) => {
    const name = isObject(item) ? item.name : undefined
    if (typeof name !== 'string') return []
    if (seen.has(name)) return [{ at: `/capabilities/${i}/name`, message: `is used twice: "${name}"` }]
    seen.add(name)
    return []
  })
}

/** Every place where a draft lets a publisher put a JSON Schema. */
const SCHEMA_MEMBERS = ['inputs', 'outputs', 'input_schema', 'output_schema', 'input', 'output']
const SCHEMA_LISTS = ['operations', 'capabilities', 'skills', 'examples']

function schemaIssues(document: JsonObject): Issue[] {
  const allowance = createSchemaAllowance()
  const inside = (value: JsonObject, at: string): Issue[] =>
    SCHEMA_MEMBERS.flatMap((name) => {
      const schema = value[name]
      // Other types are reported by the face's schema; `input` of an example is a value, not a schema.
      return isObject(schema) ? checkPublisherSchema(schema, `${at}/${name}`, allowance) : []
    })
  const inList = (list: string): Issue[] =>
    (Array.isArray(document[list]) ? document[list] : []).flatMap((item, i) =>
      isObject(item) ? inside(list === 'examples' ? withoutPair(item) : item, `/${list}/${i}`) : [],
    )
  return [...inside(document, ''), ...SCHEMA_LISTS.flatMap(inList)]
}

const withoutPair = ({ input: _input, output: _output, ...rest }: JsonObject): JsonObject => rest

/** Names that cannot collide are extensions (PROF §4.7): reverse DNS, URIs, and `x-`. */
function unknownMembers(document: JsonObject): Issue[] {
  return Object.keys(document)
    .filter((name) => !isKnownMember(name) && !/[.:]/.test(name) && !name.startsWith('x-'))
    .map((name) => ({
      at: `/${pointerToken(name)}`,
      message: 'is not known, and the policy of this directory refuses unknown members',
    }))
}

/** The AD name of a registration (AD §4.1). */
export function parseAgentName(name: string | undefined): string {
  const problem = name === undefined ? 'is required: POST /ad/r?agent=NAME' : agentNameProblem(name)
  assertValid(problem === undefined ? [] : [{ at: '?agent', message: problem }])
  return name ?? ''
}
