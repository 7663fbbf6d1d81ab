import type { DiscoveryRequest } from '@switchboard/protocol'
import type { DirectoryClient } from './create-client.js'
import type { DiscoverOptions } from './discover.js'
import type { AgentSummary, Candidate } from './documents.js'
import type { SearchOptions, SearchRequest } from './search.js'

/** An item and the directory that told it. */
export type Told<Item> = Item & { readonly registry: string }

/** What several directories answered; one that failed does not spoil the others. */
export interface Merged<Item> {
  /** By rank: the first of each directory, then the second of each. Scores of different directories mean nothing together. */
  readonly items: readonly Told<Item>[]
  readonly failures: readonly { readonly registry: string; readonly error: unknown }[]
}

/** Asks several directories the same question, each for one page. */
export function searchAll(
  directories: readonly DirectoryClient[],
  what: string | SearchRequest,
  options?: SearchOptions,
): Promise<Merged<AgentSummary>> {
  return merge(directories, async (directory) => (await directory.search(what, options)).agents)
}

/** Candidates of several discovery services; merged by rank and never by their scores (PROF §6.1). */
export function discoverAll(
  directories: readonly DirectoryClient[],
  what: string | DiscoveryRequest,
  options?: DiscoverOptions,
): Promise<Merged<Candidate>> {
  return merge(directories, async (directory) => (await directory.discover(what, options)).candidates)
}

async function merge<Item extends object>(
  directories: readonly DirectoryClient[],
  ask: (directory: DirectoryClient) => Promise<readonly Item[]>,
): Promise<Merged<Item>> {
  const answers = await Promise.all(
    directories.map(async (directory) => {
      const registry = directory.baseUrl
      try {
        return { registry, items: await ask(directory) }
      } catch (error) {
        return { registry, items: [], error }
      }
    }),
  )
  const ranks = Math.max(0, ...answers.map(({ items }) => items.length))
  const items = Array.from({ length: ranks }, (_, rank) =>
    answers.flatMap(({ registry, items: own }) => own.slice(rank, rank + 1).map((item) => ({ ...item, registry }))),
  )
  return {
    items: items.flat(),
    failures: answers.flatMap((answer) =>
      'error' in answer ? [{ registry: answer.registry, error: answer.error }] : [],
    ),
  }
}
