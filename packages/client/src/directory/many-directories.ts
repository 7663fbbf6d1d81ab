import type { DiscoveryRequest } from '@switchboard/protocol'
import type { DiscoveryClient } from './create-discovery-client.js'
import type { DiscoverOptions } from './discover.js'
import type { AgentSummary, Candidate } from './documents.js'
import type { SearchOptions, SearchRequest } from './search.js'

/** An item, with the base URL of the directory that it is from. */
export type FromDirectory<Item> = Item & { readonly registry: string }

/** The results of several directories, without those that failed. */
export interface Merged<Item> {
  /** The first of each directory, then the second of each, …: scores of different directories are not comparable. */
  readonly items: readonly FromDirectory<Item>[]
  readonly failures: readonly { readonly registry: string; readonly error: unknown }[]
}

/** Searches several directories, one page of each. */
export function searchAll(
  directories: readonly Pick<DiscoveryClient, 'baseUrl' | 'search'>[],
  what: string | SearchRequest,
  options?: SearchOptions,
): Promise<Merged<AgentSummary>> {
  return merge(directories, async (directory) => (await directory.search(what, options)).agents)
}

/** Finds candidates in several discovery services; merged by rank, never by score (PROF §6.1). */
export function discoverAll(
  directories: readonly Pick<DiscoveryClient, 'baseUrl' | 'discover'>[],
  what: string | DiscoveryRequest,
  options?: DiscoverOptions,
): Promise<Merged<Candidate>> {
  return merge(directories, async (directory) => (await directory.discover(what, options)).candidates)
}

async function merge<Directory extends Pick<DiscoveryClient, 'baseUrl'>, Item extends object>(
  directories: readonly Directory[],
  find: (directory: Directory) => Promise<readonly Item[]>,
): Promise<Merged<Item>> {
  const results = await Promise.all(
    directories.map(async (directory) => {
      const registry = directory.baseUrl
      try {
        return { registry, items: await find(directory) }
      } catch (error) {
        return { registry, items: [], error }
      }
    }),
  )
  const ranks = Math.max(0, ...results.map(({ items }) => items.length))
  const items = Array.from({ length: ranks }, (_, rank) =>
    results.flatMap(({ registry, items: own }) => own.slice(rank, rank + 1).map((item) => ({ ...item, registry }))),
  )
  return {
    items: items.flat(),
    failures: results.flatMap((result) =>
      'error' in result ? [{ registry: result.registry, error: result.error }] : [],
    ),
  }
}
