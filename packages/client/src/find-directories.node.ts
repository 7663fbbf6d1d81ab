// The entry point `@switchboard/client/find-directories`, for Node only: browsers have no access to multicast and DNS.
import type { Advertisement } from './find/advertised.js'
import { browseDns } from './find/browse-dns.node.js'
import { browseMdns } from './find/browse-mdns.node.js'
import { type DirectoryOffer, readDirectory } from './find/read-directory.node.js'

export { ClientError, type ClientErrorCode, type ClientErrorOptions } from './errors.js'
export type { DirectoryOffer } from './find/read-directory.node.js'

export interface FindDirectoriesOptions {
  /** The domain whose DNS records are read; default: the local network is browsed by multicast DNS. */
  readonly domain?: string
  /** Milliseconds to listen on the local network, or to wait for an answer; default: 2 s. */
  readonly timeoutMs?: number
  /** IPv4 addresses of the network interfaces to browse; default: all. */
  readonly interfaces?: readonly string[]
  /** DNS servers such as `192.0.2.1:53`; default: those of the system. */
  readonly servers?: readonly string[]
  readonly signal?: AbortSignal
}

/** A directory that advertises itself. Its name and URL are claims: only TLS proves who answers at the URL. */
export interface FoundDirectory {
  readonly name: string
  /** The base URL, for `createClient`. */
  readonly url: string
  /** The release of the software, if the directory states it. */
  readonly version?: string
  /** Addresses of the host, if multicast DNS said them. */
  readonly addresses: readonly string[]
  /** What `/.well-known/ad` says; absent if it could not be read. */
  readonly offer?: DirectoryOffer
  /** Why it could not be read. */
  readonly problem?: string
}

const TIMEOUT_MS = 2000
/** Milliseconds to read the description of a directory. */
const READ_MS = 5000

/**
 * Finds directories by DNS-SD (AD §3.2) on the local network, or in a domain, and reads what they offer.
 *
 * @example
 * const [directory] = await findDirectories()
 * const client = directory && createClient({ baseUrl: directory.url })
 */
export async function findDirectories(options: FindDirectoriesOptions = {}): Promise<FoundDirectory[]> {
  const { domain, timeoutMs = TIMEOUT_MS, interfaces, servers, signal } = options
  const advertised =
    domain === undefined
      ? await browseMdns({ timeoutMs, interfaces, signal })
      : await browseDns(domain, { timeoutMs, servers, signal })
  // Replicas advertise the same URL.
  const distinct = [...new Map(advertised.map((each) => [each.url, each])).values()]
  return Promise.all(distinct.map((each) => read(each, signal)))
}

async function read(advertised: Advertisement, signal: AbortSignal | undefined): Promise<FoundDirectory> {
  const { name, url, version, addresses } = advertised
  const found = { name, url, addresses, ...(version !== undefined && { version }) }
  const limit = AbortSignal.timeout(READ_MS)
  try {
    return { ...found, offer: await readDirectory(advertised, signal ? AbortSignal.any([signal, limit]) : limit) }
  } catch (error) {
    signal?.throwIfAborted()
    return { ...found, problem: problemOf(error, limit.aborted) }
  }
}

function problemOf(error: unknown, isTimeout: boolean): string {
  if (isTimeout) return `it did not respond within ${READ_MS} ms`
  return error instanceof Error ? error.message : String(error)
}
