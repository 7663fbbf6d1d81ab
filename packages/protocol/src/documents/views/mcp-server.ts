import { isAbsoluteUri } from '../../identifiers.js'
import { asString, isObject, type JsonObject } from '../../json.js'
import { type AgentRecord, type Binding, given, type RegistryFacts } from '../record.js'
import { LIMITS } from '../schemas/parts.js'
import { documentFor, gatewayUrl, reachableBindings, registryMembers, withoutOrigin } from './derive.js'

/** The schema of server.json that derived documents follow. */
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'
/** The member of `_meta` for what a publisher says beyond the schema. */
const PUBLISHER_META = 'io.modelcontextprotocol.registry/publisher-provided'
/** The member of `_meta` with what the directory says about an agent. */
export const DIRECTORY_META = 'io.github.switchboard-directory/registry'

const MAX_NAME = 200
/** Characters of a description and of a title. */
const MAX_TEXT = 100
const MAX_VERSION = 255

/** Whether an agent has a server.json: it was registered with one, or has an MCP endpoint over HTTP. */
export const speaksMcp = ({ format, bindings }: Pick<AgentRecord, 'format' | 'bindings'>): boolean =>
  format === 'mcp' || bindings.some((binding) => isMcp(binding) && /^(https?:|\/)/i.test(binding.endpoint))

/**
 * The server.json of an agent for MCP registries: the publisher's own, or one derived from a document of another format.
 * What the directory adds is in `_meta`. Without remotes if the agent does not speak MCP, see `speaksMcp`.
 */
export function toMcpServer(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const isOwn = record.format === 'mcp'
  const document = isOwn ? documentFor('mcp', record, () => derived(record, facts)) : derived(record, facts)
  const meta = isObject(document._meta) ? document._meta : {}
  const added = { id: record.id, ...registryMembers(record, facts) }
  return { ...document, _meta: { ...meta, ...(!isOwn && publisherMeta(record, document)), [DIRECTORY_META]: added } }
}

function derived(record: AgentRecord, facts: RegistryFacts): JsonObject {
  const remotes = reachableBindings(record, facts).filter(
    (binding) => isMcp(binding) && /^https?:/i.test(binding.endpoint) && isAbsoluteUri(binding.endpoint),
  )
  const title = cut(record.name)
  return {
    $schema: SCHEMA,
    name: serverName(record.id, facts.baseUrl),
    ...(title !== '' && { title }),
    description: cut(record.description) || title || record.id.slice(0, MAX_TEXT),
    version: versionOf(record),
    websiteUrl: gatewayUrl(record, facts).replace(/\/invoke$/, ''),
    ...(remotes.length > 0 && { remotes: remotes.slice(0, LIMITS.bindings).map(toRemote) }),
  }
}

/** As in the gateway, `mcp/2025-11-25` and the like are MCP too. */
const isMcp = ({ protocol }: Binding): boolean => /^mcp/i.test(protocol)

const toRemote = ({ endpoint, source }: Binding): JsonObject => ({
  type: asString(source?.type) === 'sse' ? 'sse' : 'streamable-http',
  // The URL is a template (RFC 6570), whose literals exclude the apostrophe.
  url: endpoint.replaceAll("'", '%27'),
})

/** Members of the publisher's document that the schema has no place for, or no room. */
function publisherMeta(record: AgentRecord, document: JsonObject): JsonObject {
  const kept = Object.entries(withoutOrigin(record.document)).filter(([name, value]) => document[name] !== value)
  return given(PUBLISHER_META, kept.length > 0 ? Object.fromEntries(kept) : undefined)
}

/**
 * The name of a server is a namespace in reverse DNS notation and a name in it. An id that has this form is the name.
 * Any other is a name in the namespace of the directory, in which `_` and two hexadecimal digits stand for a byte that a
 * name cannot contain, so that different ids have different names.
 */
export function serverName(id: string, baseUrl: string): string {
  const namespace = namespaceOf(baseUrl)
  const isName = id.length <= MAX_NAME && /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(id)
  if (isName && !id.startsWith(`${namespace}/`)) return id
  const name = id.toWellFormed().replaceAll(/_(?=[0-9a-f]{2})|[^a-zA-Z0-9._-]/gu, escaped)
  const room = MAX_NAME - namespace.length - 1
  return `${namespace}/${name.length <= room ? name : `${name.slice(0, room - 9)}-${hash(id)}`}`
}

const escaped = (character: string): string =>
  [...new TextEncoder().encode(character)].map((byte) => `_${byte.toString(16).padStart(2, '0')}`).join('')

/** The host in reverse order; addresses have no hierarchy to reverse. */
function namespaceOf(baseUrl: string): string {
  const { hostname } = new URL(baseUrl)
  const isAddress = /^[\d.]+$|:/.test(hostname)
  const namespace = isAddress ? hostname.replaceAll(/[^0-9a-f.]/g, '-') : hostname.split('.').reverse().join('.')
  return namespace.slice(0, MAX_NAME / 2)
}

/** FNV-1a as eight hexadecimal digits: tells ids apart that are too long for a name. */
function hash(text: string): string {
  let value = 0x811c9dc5
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193)
  return (value >>> 0).toString(16).padStart(8, '0')
}

/** The text within the limit of the schema, cut after a word if it is too long. */
export function cut(text: string): string {
  const whole = text.trim()
  if (whole.length <= MAX_TEXT) return whole
  const start = whole.slice(0, MAX_TEXT - 1)
  const space = start.lastIndexOf(' ')
  return `${start.slice(0, space > MAX_TEXT / 2 ? space : undefined).toWellFormed()}…`
}

/** The agent's version; the schema rejects ranges and names such as `latest`. */
export function versionOf({ version }: AgentRecord): string {
  const isExact = version && version.length <= MAX_VERSION && !/[\^~<>=*|\s]|(^|\.)x(\.|$)|^latest$/i.test(version)
  return isExact ? version : '0.0.0'
}
