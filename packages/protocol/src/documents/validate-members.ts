import type { Issue } from '../errors.js'
import { idProblem } from '../identifiers.js'
import { isObject, type JsonObject, type JsonValue, pointerToken } from '../json.js'
import { compileSchema } from '../schema/compile-schema.js'
import type { DocumentFormat } from './record.js'
import { FORMAT_SCHEMAS, isKnownMember } from './schemas/formats.js'

/** How strictly documents are validated: settings of the operator, under `policy`. */
export interface Strictness {
  /** Take AIDIP §3.1 literally: version, publisher and tags are required too (C-07). */
  strict01?: boolean
  /** Allow AIDIP capabilities that are objects with a name (C-10). */
  lenientCapabilities?: boolean
  /** Reject members that no draft defines, instead of keeping them (PROF §4.7). */
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

/**
 * Validates the members of a document. Returns the issues; empty if it is valid. It does not look into the JSON Schemas
 * of the document, which would need a regular expression engine: `validateDocument` does.
 */
export function validateMembers(format: DocumentFormat, value: JsonValue, strictness: Strictness = {}): Issue[] {
  const lenient = format === 'aidip' && strictness.lenientCapabilities && isObject(value) ? withNames(value) : value
  const issues = CHECKS[format](lenient)
  if (!isObject(value)) return issues
  return withoutRepeats(issues, [
    ...(format === 'aidip' ? aidipIssues(value, strictness) : []),
    ...(format === 'directory' ? repeatedNames(value) : []),
    ...(format === 'a2a' ? cardIssues(value) : []),
    ...idIssues(value.id),
    ...(strictness.refuseUnknownMembers ? unknownMembers(value) : []),
  ])
}

/** Adds the issues of members that have none yet: one issue for each member is enough. */
export function withoutRepeats(issues: Issue[], more: Issue[]): Issue[] {
  const reported = new Set(issues.map(({ at }) => at))
  return [...issues, ...more.filter(({ at }) => !reported.has(at))]
}

function aidipIssues(document: JsonObject, strictness: Strictness): Issue[] {
  const issues: Issue[] = []
  const hasInputs = 'inputs' in document || 'input_schema' in document
  const hasOutputs = 'outputs' in document || 'output_schema' in document
  if (!('operations' in document)) {
    const how = 'describe the input and output in operations, or in inputs and outputs'
    if (!hasInputs && !hasOutputs) issues.push({ at: '/operations', message: `is required: ${how}` })
    else if (!hasInputs) issues.push({ at: '/inputs', message: `is required with outputs: ${how}` })
    else if (!hasOutputs) issues.push({ at: '/outputs', message: `is required with inputs: ${how}` })
  }
  const has = (name: string): boolean => Array.isArray(document[name]) && document[name].length > 0
  if (Array.isArray(document.capabilities) && !has('capabilities') && !has('tags') && !has('operations')) {
    issues.push({
      at: '/capabilities',
      message: 'must not be empty, unless tags or operations say what the agent does',
    })
  }
  for (const name of strictness.strict01 ? ['version', 'publisher', 'tags'] : []) {
    if (!(name in document)) issues.push({ at: `/${name}`, message: 'is required by the policy of this directory' })
  }
  return issues
}

const cardIssues = ({ url, supportedInterfaces }: JsonObject): Issue[] =>
  url === undefined && supportedInterfaces === undefined
    ? [{ at: '/url', message: 'is required, unless the card has supportedInterfaces' }]
    : []

/** With lenient capabilities, an object with a name counts as its name. */
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

/** Issues for capabilities in the Agent Directory that have the same name. */
export function repeatedNames(document: JsonObject): Issue[] {
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

/** Names in reverse DNS form, URIs and names with `x-` are extensions, which cannot collide (PROF §4.7). */
function unknownMembers(document: JsonObject): Issue[] {
  return Object.keys(document)
    .filter((name) => !isKnownMember(name) && !/[.:]/.test(name) && !name.startsWith('x-'))
    .map((name) => ({
      at: `/${pointerToken(name)}`,
      message:
        'is not a known member: this directory rejects unknown members, except extensions such as "com.example.name"',
    }))
}
