import { isObject, type JsonObject, type JsonValue } from '../../json.js'
import { compileFit } from '../../schema/compile-schema.js'
import type { DocumentFormat } from '../record.js'
import { aidipSchema } from './aidip.js'
import { agentCardSchema, descriptorSchema, mcpServerSchema } from './descriptor.js'
import { directorySchema } from './directory.js'
import { profileSchema } from './profile.js'

/** The schema of each document format. */
export const FORMAT_SCHEMAS: Readonly<Record<DocumentFormat, JsonObject>> = {
  aidip: aidipSchema,
  profile: profileSchema,
  directory: directorySchema,
  descriptor: descriptorSchema,
  a2a: agentCardSchema,
  mcp: mcpServerSchema,
}

const membersOf = (format: DocumentFormat): JsonObject => {
  const { properties } = FORMAT_SCHEMAS[format]
  return isObject(properties) ? properties : {}
}

/** Members of the drafts that are not in the schemas, because they may have any value or are read elsewhere. */
const OTHERS = `pricing rate_limits documentation documentationUrl data_retention quality_score orchestration
  versionNegotiation security errorFormat iconUrl supportsAuthenticatedExtendedCard signatures probes icons _meta $schema @context
  agent lt href freshness verification redacted`

const KNOWN: ReadonlySet<string> = new Set([
  ...OTHERS.split(/\s+/),
  ...Object.values(FORMAT_SCHEMAS).flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : [])),
])

/** Whether a draft, or this directory, defines a member of that name. */
export const isKnownMember = (name: string): boolean => KNOWN.has(name)

const fits = new Map<string, (value: JsonValue) => boolean>()

/** Whether a document of that format may have the member: the format does not define it, or the value is valid. */
export function memberFits(format: DocumentFormat, name: string, value: JsonValue): boolean {
  const members = membersOf(format)
  const schema = Object.hasOwn(members, name) ? members[name] : undefined
  if (!isObject(schema)) return true
  const key = `${format} ${name}`
  const fit = fits.get(key) ?? compileFit(schema)
  fits.set(key, fit)
  return fit(value)
}
