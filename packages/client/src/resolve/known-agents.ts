import { type AgentUri, formatAgentUri } from '@switchboard/agent-uri'
import type { CustomResolver, KnownAgent, ResolverContext, ResolverOptions } from './options.js'
import { readUri } from './read-uri.js'
import { segmentsOf } from './uri-path.js'

/** An agent that the caller has configured, and the rest of the URI's path. */
export interface KnownLocation {
  readonly known: Exclude<KnownAgent, string>
  readonly rest: readonly string[]
}

/** Finds an agent in the `static` map, else with the caller's resolvers, in their order. */
export type FindKnown = (uri: AgentUri, context: ResolverContext) => Promise<KnownLocation | undefined>

export function createFindKnown({ static: map = {}, resolvers = [] }: ResolverOptions): FindKnown {
  const places = new Map(Object.entries(map).map(([text, known]) => [keyOf(readUri(text)), known]))
  return async (uri, context) => findStatic(uri, places) ?? (await runResolvers(uri, resolvers, context))
}

/** The entry with the longest path that is a prefix of the URI's path, by whole segments. */
function findStatic(uri: AgentUri, places: ReadonlyMap<string, KnownAgent>): KnownLocation | undefined {
  if (places.size === 0) return undefined
  const segments = segmentsOf(uri.path)
  for (let length = segments.length; length >= 0; length--) {
    const path = segments.slice(0, length).map((segment) => `/${segment}`)
    const known = places.get(keyOf({ ...uri, path: path.join('') }))
    if (known !== undefined) return { known: toObject(known), rest: segments.slice(length) }
  }
  return undefined
}

async function runResolvers(
  uri: AgentUri,
  resolvers: readonly CustomResolver[],
  context: ResolverContext,
): Promise<KnownLocation | undefined> {
  for (const resolver of resolvers) {
    const known = await resolver(uri, context)
    if (known !== undefined) return { known: toObject(known), rest: segmentsOf(uri.path) }
  }
  return undefined
}

const toObject = (known: KnownAgent): Exclude<KnownAgent, string> =>
  typeof known === 'string' ? { endpoint: known } : known

/** The URI without the parts that do not identify the agent. */
const keyOf = (uri: AgentUri): string =>
  formatAgentUri({ ...uri, userinfo: null, query: null, fragment: null }).replace(/\/+$/, '')
