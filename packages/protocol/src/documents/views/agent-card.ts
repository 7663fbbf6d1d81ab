import { asStrings, isObject, type JsonObject, type JsonValue } from '../../json.js'
import { isSigned } from '../../signing/signature-claims.js'
import { type A2aInterface, a2aInterfaceOf, isA2aBefore1 } from '../a2a-interface.js'
import { readBindings } from '../read-bindings.js'
import { type AgentRecord, given, plainRecord, type RegistryFacts } from '../record.js'
import { LIMITS } from '../schemas/parts.js'
import { absoluteEndpoint, callableOperations, documentFor, inheritedBy, registryMembers } from './derive.js'
import { type AgentCardVersion, toManagedCard } from './managed-card.js'

export interface AgentCardOptions {
  /** Default: 1.0. */
  readonly version?: AgentCardVersion
  /** Whether the directory answers A2A messages for the agent, at `managedUrl`. */
  readonly isAnswered?: boolean
}

/**
 * Whose card an agent has. `signed`: the publisher's, which must not be changed; `published`: the publisher's, to which the
 * directory adds its members; `derived`: written by the directory about interfaces that the publisher has described;
 * `managed`: the directory's own, because it answers for an agent that speaks no A2A.
 */
export type CardKind = 'signed' | 'published' | 'derived' | 'managed'

/** Whose A2A card an agent has; undefined if nobody answers A2A messages in that version for it. */
export function cardKindOf(record: AgentRecord, options: AgentCardOptions = {}): CardKind | undefined {
  const { version = '1.0', isAnswered = false } = options
  const { format, document, redacted } = record
  if (format === 'a2a' && !redacted) return isSigned(document) ? 'signed' : 'published'
  if (format === 'a2a' && (isAnswered || document.url !== undefined || document.supportedInterfaces !== undefined))
    return 'published'
  if (interfacesOf(record, version).length > 0) return 'derived'
  return isAnswered ? 'managed' : undefined
}

/** The A2A Agent Card of an agent of any format; undefined if it has none. */
export function toAgentCard(
  record: AgentRecord,
  facts: RegistryFacts,
  options: AgentCardOptions = {},
): JsonObject | undefined {
  const { version = '1.0' } = options
  const managed = (): JsonObject => toManagedCard(record, facts, version)
  switch (cardKindOf(record, options)) {
    case 'signed':
      return record.document
    case 'published': {
      const document = documentFor('a2a', record, managed)
      // A signature does not cover a card from which private parts were removed.
      const { signature: _own, signatures: _all, ...unsigned } = document
      return { ...(record.redacted ? unsigned : document), ...registryMembers(record, facts) }
    }
    case 'derived': {
      const publishers = withoutInterfaces(record.document, version)
      const document = documentFor('a2a', { ...plainRecord(record), document: publishers }, () =>
        derived(record, facts, version),
      )
      return { ...document, ...registryMembers(record, facts) }
    }
    case 'managed':
      return managed()
    case undefined:
      return undefined
  }
}

/** The A2A interfaces that the publisher has described, most preferred first; without those of other versions for 0.3. */
function interfacesOf({ format, bindings, document }: AgentRecord, version: AgentCardVersion): A2aInterface[] {
  // Documents of other drafts may have the members of a card too; the plain `url` of an agent.json is no A2A interface.
  const { url, bindings: _listed, ...rest } = document
  const isCard = url !== undefined && typeof document.preferredTransport === 'string'
  const described =
    format === 'a2a' ? bindings : [...bindings, ...readBindings('a2a', isCard ? { ...rest, url } : rest)]
  const all = described.flatMap((binding) => a2aInterfaceOf(binding) ?? [])
  const unique = new Map(all.map((each) => [JSON.stringify(each), each]))
  return [...unique.values()].filter((each) => version === '1.0' || isA2aBefore1(each))
}

/** Members of a card about its interfaces and signatures: another document's are not those of the derived card. */
const OWN_MEMBERS = [
  ...['url', 'preferredTransport', 'additionalInterfaces', 'supportedInterfaces', 'protocolVersion'],
  ...['signature', 'signatures', 'security'],
]
/** Written in another way in 0.3. */
const OWN_MEMBERS_OF_0_3 = ['securitySchemes', 'securityRequirements']

function withoutInterfaces(document: JsonObject, version: AgentCardVersion): JsonObject {
  const left = new Set(version === '0.3' ? [...OWN_MEMBERS, ...OWN_MEMBERS_OF_0_3] : OWN_MEMBERS)
  return Object.fromEntries(Object.entries(document).filter(([name]) => !left.has(name)))
}

function derived(record: AgentRecord, facts: RegistryFacts, version: AgentCardVersion): JsonObject {
  const { document } = record
  const interfaces = interfacesOf(record, version)
    .slice(0, LIMITS.bindings)
    .map((each) => ({ ...each, url: absoluteEndpoint(each.url, facts) }))
  const modes = (value: JsonValue | undefined): string[] => {
    const listed = asStrings(value)
    return listed.length > 0 ? listed : ['application/json']
  }
  const isPublished = version === '1.0' && isObject(document.securitySchemes)
  return {
    name: record.name,
    description: record.description,
    version: record.version ?? '0.0.0',
    ...(version === '0.3'
      ? toOldInterfaces(interfaces)
      : { supportedInterfaces: interfaces.map((each) => ({ ...each })) }),
    ...(record.publisher !== undefined && { provider: { organization: record.publisher, url: facts.baseUrl } }),
    // An object holds A2A's flags, such as `streaming`; other drafts list names here (C-10).
    capabilities: isObject(document.capabilities) ? document.capabilities : {},
    defaultInputModes: modes(document.defaultInputModes),
    defaultOutputModes: modes(document.defaultOutputModes),
    ...(!isPublished && given('securitySchemes', securitySchemes(record, version))),
    skills: toSkills(record),
  }
}

/** The main interface of a 0.3 card is `url`. */
function toOldInterfaces([main, ...others]: readonly A2aInterface[]): JsonObject {
  if (!main) return {}
  return {
    protocolVersion: '0.3.0',
    url: main.url,
    preferredTransport: main.protocolBinding,
    ...(others.length > 0 && {
      additionalInterfaces: others.map(({ url, protocolBinding }) => ({ url, transport: protocolBinding })),
    }),
  }
}

function toSkills(record: AgentRecord): JsonObject[] {
  const examples = record.examples.slice(0, LIMITS.examples).map(({ text }) => text)
  const declared = [...record.capabilities, ...callableOperations(record)]
  const inherited = inheritedBy(declared.length, record)
  const skills = declared.map(({ name, description }) => ({
    id: name,
    name,
    description: description ?? inherited.description,
    tags: inherited.tags,
  }))
  const unique = [...new Map(skills.map((skill) => [skill.id, skill])).values()].slice(0, LIMITS.capabilities)
  return unique.map((skill, i) => (i === 0 && examples.length > 0 ? { ...skill, examples } : skill))
}

function securitySchemes(record: AgentRecord, version: AgentCardVersion): JsonObject | undefined {
  const type = record.authentication?.type
  const [kind, scheme]: [string, JsonObject] | [undefined, undefined] =
    type === 'api_key'
      ? ['apiKey', { [version === '0.3' ? 'in' : 'location']: 'header', name: 'X-API-Key' }]
      : type === 'oauth2_bearer'
        ? ['http', { scheme: 'bearer' }]
        : type === 'mtls'
          ? ['mutualTLS', {}]
          : [undefined, undefined]
  if (kind === undefined) return undefined
  return version === '0.3' ? { [kind]: { type: kind, ...scheme } } : { [kind]: { [WRAPPERS[kind] ?? kind]: scheme } }
}

/** 1.0 wraps each security scheme in a member named after its kind. */
const WRAPPERS: Record<string, string | undefined> = {
  apiKey: 'apiKeySecurityScheme',
  http: 'httpAuthSecurityScheme',
  mutualTLS: 'mtlsSecurityScheme',
}
