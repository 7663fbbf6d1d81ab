import { asObjects, asString, asStrings, isObject, type JsonObject } from '../json.js'
import { parseTimestamp } from '../timestamps.js'
import { readAuthentication } from './authentication.js'
import { readBindings } from './read-bindings.js'
import { readCapabilities, readExamples, readOperations, readTags } from './read-capabilities.js'
import type { AgentRecord, DocumentFormat, Visibility } from './record.js'

/**
 * Reads the record of an agent from a document of any draft, which has been validated. Members of other drafts, or of
 * an unexpected type, are skipped: they stay in the document.
 */
export function readRecord(format: DocumentFormat, document: JsonObject, id: string, redacted = false): AgentRecord {
  const version = asString(document.version)
  const publisher = readPublisher(document)
  const authentication = readAuthentication(document.authentication ?? document.auth ?? securityScheme(document))
  const languages = document.supported_languages
  const capabilities = readCapabilities(format, document)
  const updatedAt = asString(document.updated_at)
  const expiresAt = parseTimestamp(asString(document.expires_at) ?? '')
  const identity = asString(document.identity)
  const identityType = asString(document.identity_type)
  return {
    id,
    format,
    document,
    redacted,
    name: readName(format, document, id),
    description: asString(document.description) ?? '',
    tags: readTags(format, document, capabilities),
    capabilities,
    operations: readOperations(format, document, capabilities),
    examples: readExamples(document),
    bindings: readBindings(format, document),
    protocols: asStrings(document.protocols),
    status: asString(document.status) ?? 'active',
    visibility: readVisibility(document),
    ...(version !== undefined && { version }),
    ...(publisher !== undefined && { publisher }),
    ...(Array.isArray(languages) && { languages: asStrings(languages) }),
    ...(authentication && { authentication }),
    ...(isObject(document.constraints) && { constraints: document.constraints }),
    ...(identity !== undefined && { identity }),
    ...(identityType !== undefined && { identityType }),
    ...(isObject(document.signature) && { signature: document.signature }),
    ...(typeof document.sequence === 'number' && { sequence: document.sequence }),
    ...(updatedAt !== undefined && parseTimestamp(updatedAt) !== undefined && { updatedAt }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

/** The name of a registration in the directory is its id (C-32), unless it comes from a draft with names. */
function readName(format: DocumentFormat, document: JsonObject, id: string): string {
  return (format === 'mcp' && asString(document.title)) || asString(document.name) || id
}

/** `publisher`, `provider`, `vendor` and `provider.organization` mean the same (C-12). */
function readPublisher(document: JsonObject): string | undefined {
  for (const member of [document.publisher, document.provider, document.vendor]) {
    if (typeof member === 'string') return member
    if (isObject(member) && typeof member.organization === 'string') return member.organization
  }
  return undefined
}

function readVisibility(document: JsonObject): Visibility {
  return document.visibility === 'restricted' || document.visibility === 'private' ? document.visibility : 'public'
}

/** A2A uses the security schemes of OpenAPI: the first one with a type that we know. */
function securityScheme(document: JsonObject): JsonObject | undefined {
  if (!isObject(document.securitySchemes)) return undefined
  for (const scheme of asObjects(Object.values(document.securitySchemes))) {
    // 1.0 wraps each kind of scheme in a member; 0.3 names it in `type`.
    const word = asString(scheme.type) ?? Object.keys(scheme).find((key) => key.endsWith('SecurityScheme'))
    if (word === undefined) continue
    if (/^apiKey/i.test(word)) return { type: 'api_key' }
    if (/^(http|oauth2|openIdConnect)/i.test(word)) return { type: 'oauth2_bearer' }
    if (/^(mutualTLS|mtls)/i.test(word)) return { type: 'mtls' }
  }
  return undefined
}
