import type { AgentUri } from '@switchboard/agent-uri'
import { ClientError } from '../errors.js'
import { isLoopback } from './address-policy.js'
import type { FoundAgent } from './find-descriptor.js'
import { findOnHost, tryDescriptor } from './find-descriptor.js'
import type { ResolverOptions } from './options.js'
import type { Resolution } from './resolution.js'
import { segmentsOf } from './uri-path.js'

/** Where DNS says that an agent is. Nothing of it has been verified. */
export interface DnsHint {
  readonly host: string
  readonly port: number
  /** URL of its descriptor, if the record has one. */
  readonly descriptor?: string
  /** Whether the record is that of the first segment of the path, and not that of the host. */
  readonly isNamed: boolean
}

/** Looks an agent up in DNS: by a name in the domain of the host, and by the host. Best first. */
export type FindInDns = (host: string, name: string | undefined, signal: AbortSignal) => Promise<readonly DnsHint[]>

/** Hints that are followed. */
const MAX_HINTS = 4

/**
 * Finds an agent where DNS says it is. DNS is rarely authenticated, so a record is only a hint where to look: the host must be that
 * of the URI or lie below it, and prove it with its certificate. `mayRedirect` may allow others, as it does for redirects.
 */
export async function findByDns(
  uri: AgentUri,
  resolution: Resolution,
  { dns, mayRedirect }: Pick<ResolverOptions, 'dns' | 'mayRedirect'>,
): Promise<FoundAgent | undefined> {
  // A port says where the agent is.
  if (!dns || uri.port !== null || !isDomain(uri.host)) return undefined
  const isTrusted = (url: URL): boolean =>
    `.${url.hostname}`.endsWith(`.${uri.host.toLowerCase()}`) ||
    mayRedirect?.(new URL(`https://${uri.host}/`), url) === true
  for (const hint of (await ask(dns, uri, resolution)).slice(0, MAX_HINTS)) {
    const { origin, descriptor } = urlsOf(hint)
    const foreign = [origin, ...(descriptor ? [descriptor] : [])].find((url) => !isTrusted(url))
    if (foreign) {
      resolution.warn(
        `DNS says that the agent is at ${foreign.host}, which is not in ${uri.host}: mayRedirect can allow it`,
      )
      continue
    }
    const found = descriptor
      ? await atDescriptor(descriptor, uri, hint, resolution)
      : await findOnHost(uri, resolution, { origin: origin.origin, isNamed: hint.isNamed })
    if (found) return found
  }
  return undefined
}

/** Without an answer, the agent may still be found on its host. */
async function ask(dns: FindInDns, uri: AgentUri, resolution: Resolution): Promise<readonly DnsHint[]> {
  const [name] = segmentsOf(uri.path)
  const { deadline } = resolution
  try {
    return await deadline.race(dns(uri.host, name, deadline.signal))
  } catch (error) {
    deadline.check()
    if (!(error instanceof ClientError)) throw error
    resolution.warn(error.message)
    return []
  }
}

function urlsOf({ host, port, descriptor }: DnsHint): { origin: URL; descriptor?: URL } {
  const url = descriptor !== undefined && URL.canParse(descriptor) ? new URL(descriptor) : undefined
  return { origin: new URL(`https://${host}:${port}`), ...(url && { descriptor: url }) }
}

async function atDescriptor(
  { href }: URL,
  uri: AgentUri,
  { isNamed }: DnsHint,
  resolution: Resolution,
): Promise<FoundAgent | undefined> {
  const descriptor = await tryDescriptor(href, resolution)
  return descriptor && { descriptor, rest: segmentsOf(uri.path).slice(isNamed ? 1 : 0) }
}

/** Whether a host can have records: addresses and the names of this machine cannot. */
const isDomain = (host: string): boolean => host.includes('.') && !isLoopback(host) && /[a-z]$/i.test(host)
