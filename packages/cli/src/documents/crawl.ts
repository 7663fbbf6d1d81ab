import {
  type AddressPolicy,
  ClientError,
  type CustomResolver,
  parseAgentsJson,
  type ResolvedAgent,
  resolveAgent,
} from '@switchboard/client'
import { isLoopbackHost, type JsonObject } from '@switchboard/protocol'
import type { BadDocument, FoundDocument } from './read-documents.js'

/** Maximum number of agents that are read from one agents.json. */
const MAX_AGENTS = 1000

/** Whether an argument is a URL rather than a file. */
export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text)

/** Allows loopback hosts even without the flag: a loopback URL on the command line is intentional. */
function policyFor(host: string, allowPrivate: boolean): AddressPolicy {
  return allowPrivate || isLoopbackHost(host) ? { allowPrivate: true, httpLoopback: true } : {}
}

/**
 * Fetches the descriptors at a URL: the document if it is one, else all agents of the host's agents.json, else the one
 * that the client's resolver finds. The resolver's limits on sizes, addresses and signatures apply.
 */
export async function* crawl(
  text: string,
  { allowPrivate, signal }: { readonly allowPrivate: boolean; readonly signal: AbortSignal },
): AsyncGenerator<FoundDocument | BadDocument> {
  const url = new URL(text)
  const host = `agent://${url.host}`
  const options = { ...policyFor(url.hostname, allowPrivate), allowFallback: false, signal }
  const isFile = url.pathname.endsWith('.json') && !url.pathname.endsWith('/agents.json')
  if (isFile) {
    const known = { [host]: { descriptor: url.href } }
    return yield found(url.href, await resolveAgent(host, { ...options, static: known }))
  }
  const isHost = url.pathname === '/' || url.pathname.endsWith('/agents.json')
  const index = isHost ? await readIndex(url, options) : undefined
  if (index === undefined) return yield found(url.href, await resolveAgent(host + url.pathname, options))
  const names = [...parseAgentsJson(index, url.href).keys()]
  if (names.length > MAX_AGENTS) {
    yield { from: url.href, problem: `lists ${names.length} agents; only the first ${MAX_AGENTS} are read` }
  }
  const read = names.slice(0, MAX_AGENTS)
  for (const name of read) {
    const path = name.split('/').map(encodeURIComponent).join('/')
    const from = `${url.origin}/${path}`
    try {
      yield { ...found(from, await resolveAgent(`${host}/${path}`, options)), total: read.length }
    } catch (error) {
      if (!(error instanceof ClientError)) throw error
      yield { from, problem: error.message }
    }
  }
}

function found(from: string, { descriptor }: ResolvedAgent): FoundDocument {
  if (descriptor === undefined) throw new ClientError('not_found', `there is no descriptor at ${from}`)
  return { from, document: descriptor }
}

/** Fetches the host's agents.json through the resolver, so that its limits apply. */
async function readIndex(
  url: URL,
  options: AddressPolicy & { readonly signal: AbortSignal },
): Promise<JsonObject | undefined> {
  const indexUrl = url.pathname.endsWith('.json') ? url.href : new URL('/.well-known/agents.json', url).href
  let index: JsonObject | undefined
  const fetchIndex: CustomResolver = async (_uri, { fetchJson }) => {
    index = await fetchJson(indexUrl)
    // Any result ends the resolution, so that nothing else is fetched.
    return index && { descriptor: { name: 'index', capabilities: [] }, endpoint: url.origin }
  }
  await resolveAgent(`agent://${url.host}`, { ...options, allowFallback: true, resolvers: [fetchIndex] })
  return index
}
