import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'

/** The rules of ARD's conformance tool for one document: what breaks the specification, and what is only inadvisable. */
export interface Report {
  readonly errors: string[]
  readonly warnings: string[]
}

const URN = /^urn:air:([a-zA-Z0-9.-]+)(?::([a-zA-Z0-9._:-]+))?:([a-zA-Z0-9._-]+)$/
const TYPES = [
  ...['application/ai-catalog+json', 'application/agent-card+json', 'application/a2a-agent-card+json'],
  ...['application/mcp-server-card+json', 'application/ai-registry', 'application/ai-registry+json'],
]

/** Checks a manifest by the rules of both versions: 0.9 also limits the members of the root, the host and the manifests of trust. */
export function checkManifest(text: string): Report {
  const report: Report = { errors: [], warnings: [] }
  const manifest: JsonValue = JSON.parse(text)
  if (!isObject(manifest) || !Array.isArray(manifest.entries)) return { errors: ['no entries'], warnings: [] }
  const { errors } = report
  only(manifest, ['specVersion', 'host', 'entries'], 'the root', errors)
  if (manifest.specVersion !== '1.0') errors.push('specVersion is not 1.0')
  const { host } = manifest
  if (isObject(host)) {
    only(host, ['displayName', 'identifier', 'documentationUrl', 'logoUrl', 'trustManifest'], 'host', errors)
    if (typeof host.displayName !== 'string') errors.push('host has no displayName')
  }
  for (const entry of manifest.entries) checkEntry(entry, report)
  const keys = manifest.entries.map((entry) => isObject(entry) && `${entry.identifier} ${entry.version}`)
  if (new Set(keys).size < keys.length) errors.push('two entries have the same identifier and version')
  return report
}

/** Checks a complete entry. */
export function checkEntry(entry: JsonValue, { errors, warnings }: Report): void {
  if (!isObject(entry)) return void errors.push('an entry is not an object')
  const label = String(entry.identifier)
  const [, publisher] = URN.exec(label) ?? []
  if (publisher === undefined) errors.push(`${label} is not an identifier`)
  for (const member of ['displayName', 'type'])
    if (typeof entry[member] !== 'string' || entry[member] === '') errors.push(`${label} has no ${member}`)
  if (!TYPES.includes(String(entry.type))) warnings.push(`${label} has the type ${entry.type}`)
  if ((entry.url === undefined) === (entry.data === undefined))
    errors.push(`${label} has not exactly one of url and data`)
  if (entry.url !== undefined && !URL.canParse(String(entry.url))) errors.push(`${label} has no absolute URL`)
  const { representativeQueries: queries, metadata, trustManifest } = entry
  if (queries === undefined) warnings.push(`${label} has no queries`)
  else if (!isTexts(queries) || queries.length < 2 || queries.length > 5) errors.push(`${label} has not 2 to 5 queries`)
  for (const member of ['tags', 'capabilities'])
    if (entry[member] !== undefined && !isTexts(entry[member])) errors.push(`${label} has ${member} that are no texts`)
  if (isObject(metadata) && Object.values(metadata).some((value) => typeof value === 'object' && value !== null))
    errors.push(`${label} has nested metadata`)
  if (trustManifest !== undefined) checkTrust(trustManifest, label, publisher, errors)
}

function checkTrust(trust: JsonValue, label: string, publisher: string | undefined, errors: string[]): void {
  if (!isObject(trust) || typeof trust.identity !== 'string') return void errors.push(`${label} has no identity`)
  const members = ['identity', 'identityType', 'trustSchema', 'attestations', 'provenance', 'signature']
  only(trust, members, `the trust manifest of ${label}`, errors)
  if (new URL(trust.identity).hostname !== publisher) errors.push(`${label} has the identity of another domain`)
  if (!Array.isArray(trust.attestations) && !Array.isArray(trust.provenance))
    errors.push(`the trust manifest of ${label} is empty`)
  for (const attestation of [trust.attestations ?? []].flat())
    if (!isObject(attestation) || ['type', 'uri', 'mediaType'].some((name) => typeof attestation[name] !== 'string'))
      errors.push(`${label} has an incomplete attestation`)
}

function only(object: JsonObject, members: readonly string[], where: string, errors: string[]): void {
  for (const name of Object.keys(object)) if (!members.includes(name)) errors.push(`${where} has ${name}`)
}

const isTexts = (value: JsonValue | undefined): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')
