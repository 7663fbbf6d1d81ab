import { isObject, type JsonObject } from '../json.js'

/** An entry of an index: the URL of a descriptor, an embedded descriptor, or both (C-84). */
export interface IndexedAgent {
  readonly name: string
  /** Absolute URL of the agent.json, which is the source of truth (AURI §7). */
  readonly url?: string
  readonly embedded?: JsonObject
}

/** The agents of an agents.json by name: `{"agents": {"name": "url"}}` (AURI §5.1). */
export type AgentsIndex = ReadonlyMap<string, IndexedAgent>

/**
 * Reads an agents.json; undefined if the document is not one. Its relative URLs are relative to `url`. Entries that are
 * neither URLs nor objects are ignored.
 */
export function readAgentsIndex(document: JsonObject, url: string): AgentsIndex | undefined {
  if (!isObject(document.agents)) return undefined
  const entries = Object.entries(document.agents).flatMap(([name, value]): [string, IndexedAgent][] => {
    if (typeof value === 'string') {
      const target = absoluteUrl(value, url)
      return target === undefined ? [] : [[name, { name, url: target }]]
    }
    if (!isObject(value)) return []
    const target = descriptorUrl(value, url)
    return [[name, { name, embedded: value, ...(target !== undefined && { url: target }) }]]
  })
  return new Map(entries)
}

const absoluteUrl = (text: string, base: string): string | undefined =>
  URL.canParse(text, base) ? new URL(text, base).href : undefined

/** The URL of an embedded entry's agent.json: its `url` if that ends with `.json`, else agent.json in that folder. */
function descriptorUrl({ url }: JsonObject, base: string): string | undefined {
  const target = typeof url === 'string' ? absoluteUrl(url, base) : undefined
  if (target === undefined || !/^https?:/.test(target)) return undefined
  const { pathname } = new URL(target)
  return pathname.endsWith('.json') ? target : new URL(`${pathname.replace(/\/$/, '')}/agent.json`, target).href
}
