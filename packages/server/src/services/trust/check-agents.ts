import type { AgentRecord } from '@switchboard/protocol'
import { endpointsOf } from '../../gateway/endpoints-of.js'
import type { CheckEndpoint, Reachability } from './check-endpoint.js'

/** Endpoints that are tried; an agent that lists more is checked at the preferred ones. */
const MAX_URLS = 2

/** The URLs at which an agent is checked, the preferred first; empty if it has none that can be checked. */
export function checkedUrls(record: AgentRecord): URL[] {
  const urls = endpointsOf(record).flatMap(({ protocol, url }) =>
    protocol === 'unix' || !URL.canParse(url) ? [] : [toHttp(url)],
  )
  return urls.slice(0, MAX_URLS)
}

/** A WebSocket endpoint is checked over HTTP, which its server speaks first; a query may be part of a command. */
function toHttp(text: string): URL {
  const url = new URL(text.replace(/^ws/i, 'http'))
  url.search = ''
  url.hash = ''
  return url
}

/**
 * Checks agents one after another for each host, and at once for different ones. A host that does not respond is not
 * asked again in the same batch: its other agents cannot be reached either.
 */
export function createCheckAgents(check: CheckEndpoint) {
  const checkUrls = async (urls: readonly URL[], silent: Set<string>): Promise<Reachability> => {
    let result: Reachability = 'unknown'
    for (const url of urls) {
      const found = silent.has(url.host) ? 'silent' : await check(url)
      if (found === 'reachable') return found
      if (found === 'silent') silent.add(url.host)
      if (found !== 'unknown') result = found
    }
    return result
  }

  return async <T>(
    agents: readonly { readonly item: T; readonly urls: readonly URL[] }[],
    onResult: (item: T, result: Reachability) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> => {
    const silent = new Set<string>()
    const hosts = new Map<string | undefined, (typeof agents)[number][]>()
    for (const agent of agents) {
      const host = agent.urls[0]?.host
      hosts.set(host, [...(hosts.get(host) ?? []), agent])
    }
    await Promise.all(
      Array.from(hosts.values(), async (ofHost) => {
        for (const { item, urls } of ofHost) {
          if (signal.aborted) return
          const result = await checkUrls(urls, silent)
          if (!signal.aborted) await onResult(item, result)
        }
      }),
    )
  }
}
