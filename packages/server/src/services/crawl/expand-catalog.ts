import { type CatalogEntry, isAgentEntry, isNestedCatalog, type JsonObject, readCatalog } from '@switchboard/protocol'
import type { Page, SendPolitely } from './send-politely.js'

/** An entry of a catalog or of those that it contains, and why it cannot be read. */
export interface ExpandedEntry {
  readonly entry: CatalogEntry
  readonly problem?: string
}

export interface ExpandCatalogOptions {
  readonly send: SendPolitely
  readonly signal: AbortSignal
  readonly maxAgents: number
  /** Where the outermost catalog is. */
  readonly base: URL
  /** Whether an address is one of the site. */
  readonly mayRead: (url: string) => boolean
  /** The object in a page, or why there is none. */
  readonly parse: (page: Extract<Page, { kind: 'read' }>) => JsonObject | string
}

/** Catalogs within catalogs, as AI Catalog recommends, and catalogs that are read for one site. */
const MAX_DEPTH = 4
const MAX_CATALOGS = 50

/** Lists the agents of a catalog and of the catalogs of the same site that it contains or refers to. */
export async function expandCatalog(
  entries: readonly CatalogEntry[],
  options: ExpandCatalogOptions,
): Promise<ExpandedEntry[]> {
  const { send, signal, maxAgents, base, mayRead, parse } = options
  const found: ExpandedEntry[] = []
  const read = new Set([base.href])

  const fetchNested = async (url: string): Promise<CatalogEntry[] | string> => {
    if (!mayRead(url)) return 'is a catalog of another host: it has to be crawled by itself'
    if (read.has(url)) return 'is a catalog that has been read already'
    if (read.size >= MAX_CATALOGS) return `only ${MAX_CATALOGS} catalogs of a site are read`
    read.add(url)
    const page = await send(new URL(url), {}, signal)
    if (page.kind !== 'read') return 'reason' in page ? page.reason : 'could not be read'
    if (page.url.origin !== base.origin) return 'leads to another host: it has to be crawled by itself'
    const document = parse(page)
    return typeof document === 'string' ? document : (readCatalog(document, page.url.href) ?? 'is not a catalog')
  }

  const nestedOf = async ({ url, data }: CatalogEntry, depth: number): Promise<CatalogEntry[] | string> => {
    if (depth >= MAX_DEPTH) return `is a catalog within ${MAX_DEPTH} others`
    if (data) return readCatalog(data, base.href) ?? 'is not a catalog'
    return url === undefined ? 'has no address' : fetchNested(url)
  }

  const expand = async (list: readonly CatalogEntry[], depth: number): Promise<void> => {
    for (const entry of list) {
      // One more than are read, so that it is reported that there are more.
      if (found.length > maxAgents) return
      if (isNestedCatalog(entry)) {
        const nested = await nestedOf(entry, depth)
        if (typeof nested === 'string') found.push({ entry, problem: nested })
        else await expand(nested, depth + 1)
      } else if (isAgentEntry(entry)) found.push({ entry })
      else found.push({ entry, problem: `is of the type ${entry.type.slice(0, 80)}, which describes no agent` })
    }
  }
  await expand(entries, 1)
  return found
}
