import { nextVisit } from '../../policy/crawl.js'
import { type Found, readSite, type SiteOutcome } from './read-site.js'
import type { RegisterFound } from './register-found.js'
import type { SendPolitely, Validators } from './send-politely.js'
import type { Site, SitePage } from './site.js'

export interface VisitSiteOptions {
  readonly send: SendPolitely
  readonly registerFound: RegisterFound
  readonly intervalMs: number
  readonly maxAgents: number
  readonly httpLoopback: boolean
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/** Visits a site: reads what it publishes, registers it, and finds out what is no longer there. */
export type VisitSite = (
  site: Site,
  /** Called before each document, to stop if another process has taken over. */
  options: { readonly signal: AbortSignal; readonly mayContinue: () => Promise<boolean> },
) => Promise<{ site: Site; outcome: SiteOutcome }>

export function createVisitSite(options: VisitSiteOptions): VisitSite {
  const { send, registerFound, intervalMs, maxAgents, httpLoopback, now, random } = options

  return async (site, { signal, mayContinue }) => {
    const known = new Map(site.pages.map((page) => [page.url, page]))
    const pages = new Map<string, SitePage>()

    const validatorsOf = (url: string): Validators | undefined => {
      const page = known.get(url)
      // If its agent has been removed, the document itself is needed.
      return page && registerFound.agentFrom(url, page.agent) ? page : undefined
    }
    const onFound = async (found: Found): Promise<void> => {
      const before = known.get(found.url)
      const page = await registerFound(found, before?.agent)
      const { etag, lastModified } = before ?? {}
      const isKept = found.kind === 'unchanged'
      pages.set(page.url, {
        ...(isKept && etag !== undefined && { etag }),
        ...(isKept && lastModified !== undefined && { lastModified }),
        ...page,
      })
    }
    const sendNext: SendPolitely = async (...request) => {
      try {
        if (await mayContinue()) return await send(...request)
      } catch (error) {
        if (!signal.aborted) throw error
      }
      return { kind: 'failed', reason: 'the visit was interrupted', retryAfterMs: 0 }
    }

    const outcome = await readSite({ site, send: sendNext, validatorsOf, maxAgents, httpLoopback, signal, onFound })
    if (outcome.kind !== 'failed') await expireMissing(known, pages, outcome)
    // After a failure, what was not reached is as it was before.
    const rest = outcome.kind === 'failed' ? site.pages.filter(({ url }) => !pages.has(url)) : []
    return { site: afterVisit(site, outcome, [...pages.values(), ...rest]), outcome }
  }

  /** Marks agents as stale if the site no longer publishes their documents. */
  async function expireMissing(
    known: ReadonlyMap<string, SitePage>,
    pages: Map<string, SitePage>,
    outcome: SiteOutcome,
  ): Promise<void> {
    const reason = outcome.kind === 'absent' ? outcome.reason : 'the site no longer lists it'
    for (const { url, agent } of known.values()) {
      if (pages.has(url) || agent === undefined) continue
      const page = await registerFound.expire(url, agent, reason)
      // A page without an agent has been reported before it expired.
      if (page.agent !== undefined) pages.set(url, page)
    }
  }

  function afterVisit(
    { index: _index, reason: _reason, ...site }: Site,
    outcome: SiteOutcome,
    pages: readonly SitePage[],
  ): Site {
    const failures = outcome.kind === 'failed' ? site.failures + 1 : 0
    const retryAfterMs = outcome.kind === 'failed' ? outcome.retryAfterMs : 0
    return {
      ...site,
      pages,
      visitedAt: now(),
      ...(outcome.kind === 'read' && { readAt: now() }),
      nextAt: now() + nextVisit(failures, retryAfterMs, intervalMs, random()),
      failures,
      ...(outcome.kind === 'read' ? outcome.index && { index: outcome.index } : { reason: outcome.reason }),
    }
  }
}
