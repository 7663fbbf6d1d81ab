import { type AgentUri, formatAgentUri } from '@switchboard/agent-uri'
import type { CustomResolver, KnownAgent, ResolverContext, ResolverOptions } from './options.js'
import { readUri } from './read-uri.js'
import { segmentsOf } from './uri-path.js'

/** What the caller knows of an agent, and what of the path is left for it to read. */
export interface KnownPlace {
  readonly known: Exclude<KnownAgent, string>
  readonly rest: readonly string[]
}

/** Finds agents that the caller knows: in the static map, then by asking the custom resolvers in their order. */
export type FindKnown = (uri: AgentUri, context: ResolverContext) => Promise<KnownPlace | undefined>

export function createFindKnown({ static: map = {}, resolvers = [] }: ResolverOptions): FindKnown {
  const places = new Map(Object.entries(map).map(([text, known]) => [keyOf(readUri(text)), known]))
  return async (uri, context) => findStatic(uri, places) ?? (await askResolvers(uri, resolvers, context))
}

/** The entry with the longest path that the URI's path begins with, by whole segments. */
function findStatic(uri: AgentUri, places: ReadonlyMap<string, KnownAgent>): KnownPlace | undefined {
  if (places.size === 0) return undefined
  const segments = segmentsOf(uri.path)
  for (let length = segments.length; length >= 0; length--) {
    const path = segments.slice(0, length).map((segment) => `/${segment}`)
    const known = places.get(keyOf({ ...uri, path: path.join('') }))
    if (known !== undefined) return { known: withName(known), rest: segments.slice(length) }
  }
  return undefined
}

async function askResolvers(
  uri: AgentUri,
  resolvers: readonly CustomResolver[],
  context: ResolverContext,
): Promise<KnownPlace | undefined> {
  for (const resolver of resolvers) {
    const known = await resolver(uri, context)
    if (known !== undefined) return { known: withName(known), rest: segmentsOf(uri.path) }
  }
  return undefined
}

const withName = (known: KnownAgent): Exclude<KnownAgent, string> =>
  typeof known === 'string' ? { endpoint: known } : known

/** Who is asked for, whatever the question is. */
const keyOf = (uri: AgentUri): string =>
  formatAgentUri({ ...uri, userinfo: null, query: null, fragment: null }).replace(/\/+$/, '')
