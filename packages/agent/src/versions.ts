import { coerceVersion, compareVersions, type JsonObject, selectVersion } from '@switchboard/protocol'
import { type Capability, type CheckedCapability, type ErasedDefinition, readCapabilities } from './capability.js'
import { AgentError } from './errors.js'

/** One version of the agent, and its capabilities. */
export interface AgentVersion {
  readonly version: string
  readonly capabilities: ReadonlyMap<string, Capability>
}

/** The versions that the agent offers (AURI §7). */
export interface Versions {
  readonly latest: AgentVersion
  readonly older: readonly AgentVersion[]
  /** The version that matches a number or range; the latest if undefined. */
  choose(wanted: string | undefined): AgentVersion
}

export function readVersions(
  version: string,
  definitions: readonly (CheckedCapability | ErasedDefinition)[],
  older: Readonly<Record<string, readonly (CheckedCapability | ErasedDefinition)[]>>,
  defaults: { readonly description: string; readonly tags: readonly string[] },
): Versions {
  const read = (number: string, capabilities: readonly (CheckedCapability | ErasedDefinition)[]): AgentVersion => {
    if (coerceVersion(number) === undefined) {
      throw new AgentError('invalid_definition', `"${number}" is not a semantic version such as "1.0.0"`)
    }
    return { version: number, capabilities: readCapabilities(capabilities, { ...defaults, version: number }) }
  }
  const latest = read(version, definitions)
  const others = Object.entries(older).map(([number, capabilities]) => read(number, capabilities))
  const exact = (text: string): string => coerceVersion(text) ?? text
  if (others.some((other) => compareVersions(exact(other.version), exact(version)) >= 0)) {
    throw new AgentError('invalid_definition', `the versions in olderVersions must be older than ${version}`)
  }
  const all = [latest, ...others]
  const document: JsonObject = {
    version,
    supportedVersions: Object.fromEntries(others.map((other) => [other.version, ''])),
  }
  return {
    latest,
    older: others,
    choose(wanted) {
      if (wanted === undefined) return latest
      const offered = selectVersion(document, wanted)
      const chosen = all.find((one) => one.version === offered?.version)
      if (chosen) return chosen
      const numbers = all.map((one) => one.version)
      throw new AgentError(
        'version_not_found',
        `there is no version ${wanted.slice(0, 100)}; available: ${numbers.join(', ')}`,
        {
          members: { versions: numbers },
        },
      )
    },
  }
}
