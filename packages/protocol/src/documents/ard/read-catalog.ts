import { asString, asStrings, isObject, type JsonObject } from '../../json.js'
import { coerceVersion, compareVersions } from '../../versions.js'
import { parseAirUrn } from './air-urn.js'

/** Media types of entries that lead to further entries, and of search interfaces, which contain no agent. */
export const CATALOG_TYPE = 'application/ai-catalog+json'
const REGISTRY_TYPE = /^application\/ai-registry(\+json)?$/

/** An entry of a catalog: the artifact is at `url`, or is `data`. */
export interface CatalogEntry {
  readonly identifier: string
  readonly type: string
  readonly version?: string
  /** Absolute. */
  readonly url?: string
  readonly data?: JsonObject
  readonly queries: readonly string[]
  readonly tags: readonly string[]
}

/** Whether a document is the manifest of ARD, or an AI Catalog. */
export const isCatalog = (document: JsonObject): boolean =>
  Array.isArray(document.entries) && (document.specVersion === undefined || /^1\./.test(String(document.specVersion)))

/**
 * Reads the entries of a manifest; undefined if the document is not one. Relative URLs are relative to `base`; without
 * it, they are ignored. Entries without an
 * identifier or type, or with both or neither of `url` and `data`, are ignored (ARD 0.91 §4.2, §4.3), and so are registries. Of
 * several versions, the latest one is read (AI Catalog, Multi-Version Entries).
 */
export function readCatalog(document: JsonObject, base?: string): CatalogEntry[] | undefined {
  if (!isCatalog(document) || !Array.isArray(document.entries)) return undefined
  const latest = new Map<string, CatalogEntry>()
  for (const item of document.entries) {
    const entry = isObject(item) ? readCatalogEntry(item, base) : undefined
    const known = entry && latest.get(entry.identifier)
    if (entry && (!known || isLater(entry, known))) latest.set(entry.identifier, entry)
  }
  return [...latest.values()]
}

const isLater = (a: CatalogEntry, b: CatalogEntry): boolean =>
  compareVersions(coerceVersion(a.version) ?? '0.0.0', coerceVersion(b.version) ?? '0.0.0') > 0

/** Reads one entry; undefined if the object is not one, or is that of a registry. */
export function readCatalogEntry(entry: JsonObject, base?: string): CatalogEntry | undefined {
  const [identifier, type] = [asString(entry.identifier), asString(entry.type)]
  if (!identifier || !type || REGISTRY_TYPE.test(type)) return undefined
  if ((entry.url === undefined) === (entry.data === undefined)) return undefined
  const version = asString(entry.version)
  const common = {
    identifier,
    type,
    ...(version !== undefined && { version }),
    queries: asStrings(entry.representativeQueries),
    tags: asStrings(entry.tags),
  }
  if (isObject(entry.data)) return { ...common, data: entry.data }
  const url = asString(entry.url) ?? ''
  return URL.canParse(url, base) ? { ...common, url: new URL(url, base).href } : undefined
}

/** Media types of artifacts that describe something to call; servers often say only `application/json`. */
const AGENT_TYPES = /^application\/((a2a-)?agent-card|mcp-server(-card)?|(vnd\.oai\.)?openapi|json)(\+json)?\b/

/** Whether the artifact of an entry can be registered. */
export const isAgentEntry = ({ type }: CatalogEntry): boolean => AGENT_TYPES.test(type)

/** Whether the artifact of an entry is another catalog. */
export const isNestedCatalog = ({ type }: CatalogEntry): boolean => type === CATALOG_TYPE

/**
 * An artifact with what only its entry says: example queries, and tags if it has none. A signed artifact stays as it is, because its
 * signature covers it.
 */
export function withEntry(artifact: JsonObject, { queries, tags }: CatalogEntry): JsonObject {
  if (artifact.signature !== undefined || artifact.signatures !== undefined) return artifact
  return {
    ...artifact,
    ...(queries.length > 0 && artifact.examples === undefined && { examples: queries.map((text) => ({ text })) }),
    ...(tags.length > 0 && artifact.tags === undefined && { tags: [...tags] }),
  }
}

/** The identifier of an entry, if it is one that this host may assign: its publisher is the host. */
export function ownIdentifier({ identifier }: CatalogEntry, host: string): string | undefined {
  return parseAirUrn(identifier)?.publisher.toLowerCase() === host ? identifier : undefined
}
