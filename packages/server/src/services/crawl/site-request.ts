import { DirectoryError, invalid } from '@switchboard/protocol'
import { GatewayError } from '../../gateway/gateway.js'
import { type Caller, hasScope, isAdmin } from '../../policy/caller.js'
import { parseSiteUrl } from '../../policy/crawl.js'
import type { SiteOutcome } from './read-site.js'

/** The URL of a site that a caller wants to be crawled; throws `invalid_request` if it cannot be. */
export function readSiteUrl(text: string, httpLoopback: boolean, checkAddress: (url: URL) => void): URL {
  try {
    const url = parseSiteUrl(text, httpLoopback)
    checkAddress(url)
    return url
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof GatewayError)) throw error
    throw invalid([{ at: '/url', message: error.message }])
  }
}

/** Crawling needs the publish scope. The agents that are found belong to the domain of the site, not to the caller (C-46). */
export function assertMayRequest(caller: Caller): string {
  if (caller.subject === undefined) throw new DirectoryError('unauthorized', 'crawling needs credentials')
  if (!hasScope(caller, 'publish')) throw new DirectoryError('forbidden', 'crawling needs the publish scope')
  if (caller.names && !isAdmin(caller))
    throw new DirectoryError(
      'forbidden',
      'this credential is limited to certain names, but a site may use any: use one that is not',
    )
  return caller.subject
}

/** The error of a visit that found no agents. */
export function nothingFound(url: URL, outcome: SiteOutcome): DirectoryError {
  if (outcome.kind === 'failed') return new DirectoryError('agent_error', outcome.reason)
  if (outcome.kind === 'absent' && outcome.isRefused) return new DirectoryError('forbidden', outcome.reason)
  const reason = outcome.kind === 'absent' ? outcome.reason : 'it lists no agents'
  return new DirectoryError('not_found', `no agents were found at ${url.href}: ${reason}`)
}
