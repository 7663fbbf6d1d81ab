import type { Issue } from '../errors.js'
import { asObjects, asString, isObject, type JsonObject } from '../json.js'
import { coerceVersion } from '../versions.js'

/** What AURI requires of an agent.json (errors) and what it recommends (warnings). */
export interface DescriptorAdvice {
  errors: Issue[]
  warnings: Issue[]
}

/**
 * Advice for publishers of agent.json (AURI §7, §10). Readers require less (C-25): a document with errors here is still
 * read if `validateDocument` has no issues.
 */
export function lintDescriptor(document: JsonObject): DescriptorAdvice {
  return {
    errors: [...negotiationIssues(document), ...securityIssues(document)],
    warnings: [...identityAdvice(document), ...versionAdvice(document), ...capabilityAdvice(document)],
  }
}

function negotiationIssues({ versionNegotiation }: JsonObject): Issue[] {
  if (isObject(versionNegotiation) || asString(versionNegotiation)) return []
  return [{ at: '/versionNegotiation', message: 'is required: say how clients request a version (AURI §7)' }]
}

function securityIssues({ security, transport }: JsonObject): Issue[] {
  if (!isObject(security))
    return [{ at: '/security', message: 'is required: name the security mechanisms of each transport (AURI §10)' }]
  const transports = isObject(transport) ? Object.keys(transport) : []
  return transports
    .filter((name) => !Object.hasOwn(security, name))
    .map((name) => ({ at: '/security', message: `does not say how the transport "${name}" is secured` }))
}

function identityAdvice(document: JsonObject): Issue[] {
  return ['name', 'version', 'description']
    .filter((name) => !asString(document[name]))
    .map((name) => ({ at: `/${name}`, message: 'is missing (recommended)' }))
}

function versionAdvice({ version, supportedVersions }: JsonObject): Issue[] {
  const named = isObject(supportedVersions) ? Object.keys(supportedVersions) : []
  return [
    ...(typeof version === 'string' && version !== '' && coerceVersion(version) === undefined
      ? [{ at: '/version', message: `"${version}" is not a semantic version such as "3.1.4"` }]
      : []),
    ...named
      .filter((name) => coerceVersion(name) === undefined)
      .map((name) => ({ at: '/supportedVersions', message: `"${name}" is not a semantic version` })),
  ]
}

function capabilityAdvice({ capabilities, skills }: JsonObject): Issue[] {
  const listed = asObjects(capabilities)
  if (listed.length === 0 && asObjects(skills).length === 0) {
    return [{ at: '/capabilities', message: 'should list at least one capability' }]
  }
  return listed.flatMap((capability, i) =>
    ['description', 'version', 'tags', 'input', 'output']
      .filter((name) => capability[name] === undefined)
      .map((name) => ({ at: `/capabilities/${i}/${name}`, message: 'is missing (recommended)' })),
  )
}
