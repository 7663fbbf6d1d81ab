import { lookup, Resolver } from 'node:dns/promises'

/** Resolves a host name to all its addresses; rejects or returns none if it has none. */
export type ResolveName = (name: string, options: { readonly isTrusted: boolean }) => Promise<readonly string[]>

/** The TXT records of a name, each as one text; empty if it has none or cannot be resolved. */
export type ResolveText = (name: string) => Promise<readonly string[]>

/** Timeout of one DNS query in milliseconds, and the number of tries. */
const QUERY_TIMEOUT_MS = 1500
const TRIES = 2

/**
 * Queries DNS servers directly, with its own timeout. The lookup of the system blocks one of the few threads that file
 * access needs too, and the DNS server of a publisher may be arbitrarily slow. Names that the operator allowed
 * (`isTrusted`) are resolved by the system, because they may be defined only in its hosts file.
 *
 * @param servers `address:port` of DNS servers; default: those of the system
 */
export function createResolveName(servers?: readonly string[]): ResolveName {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES })
  if (servers) resolver.setServers(servers)
  return async (name, { isTrusted }) => {
    if (isTrusted) return (await lookup(name, { all: true })).map(({ address }) => address)
    const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  }
}

/** Queries DNS servers directly, as `createResolveName` does. */
export function createResolveText(servers?: readonly string[]): ResolveText {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES })
  if (servers) resolver.setServers(servers)
  return async (name) => {
    const [result] = await Promise.allSettled([resolver.resolveTxt(name)])
    return result.status === 'fulfilled' ? result.value.map((parts) => parts.join('')) : []
  }
}
