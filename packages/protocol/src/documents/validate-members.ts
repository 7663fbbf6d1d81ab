import type { Issue } from '../errors.js'
import { idProblem } from '../identifiers.js'
import { isObject, type JsonObject, type JsonValue, pointerToken } from '../json.js'
import { compileSchema } from '../schema/compile-schema.js'
import type { DocumentFormat } from './record.js'
import { FORMAT_SCHEMAS, isKnownMember } from './schemas/formats.js'

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

/**
 * What is wrong with the members of a document; empty if nothing is. The JSON Schemas that it contains are not looked
 * into, which would need a regular expression engine: `validateDocument` does that too.
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

/** One issue for each place: a second one about the same member in other words helps nobody. */
export function withoutRepeats(issues: Issue[], more: Issue[]): Issue[] {
  const reported = new Set(issues.map(({ at }) => at))
  return [...issues, ...more.filter(({ at }) => !reported.has(at))]
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

const cardIssues = ({ url, supportedInterfaces }: JsonObject): Issue[] =>
  url === undefined && supportedInterfaces === undefined
    ? [{ at: '/url', message: 'is required, unless the card has supportedInterfaces' }]
    : []

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

/** Capabilities of the Agent Directory that share a name. */
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

/** Names that cannot collide are extensions (PROF §4.7): reverse DNS, URIs, and `x-`. */
function unknownMembers(document: JsonObject): Issue[] {
  return Object.keys(document)
    .filter((name) => !isKnownMember(name) && !/[.:]/.test(name) && !name.startsWith('x-'))
    .map((name) => ({
      at: `/${pointerToken(name)}`,
      message: 'is not known, and the policy of this directory refuses unknown members',
    }))
}
