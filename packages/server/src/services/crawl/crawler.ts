import { DirectoryError } from '@switchboard/protocol'
import { type Caller, isAdmin } from '../../policy/caller.js'
import type { AuditEntry } from '../../store/store.js'
import { auditOf, type Context } from '../context.js'
import { removeAgent } from '../registry/remove.js'
import { type CheckLease, createCheckLease } from '../trust/check-lease.js'
import type { SiteOutcome } from './read-site.js'
import { endOfSite, type Site, siteIdOf, toEntry, toSite } from './site.js'
import { assertMayRequest, nothingFound, readSiteUrl } from './site-request.js'
import type { VisitSite } from './visit-site.js'

/** A site, and whether it is being visited. */
export interface ShownSite {
  readonly site: Site
  readonly isRunning: boolean
}

/** Crawls sites for agents: on request, and again and again. */
export interface Crawler {
  /** Visits a site for the caller, and waits a while for the result. */
  request(url: string, caller: Caller): Promise<ShownSite & { isNew: boolean }>
  /** The sites that the caller asked for; for administrators, all. */
  list(caller: Caller): Promise<readonly ShownSite[]>
  /** Forgets a site and removes its agents. */
  remove(id: string, caller: Caller): Promise<void>
  /** Starts the visits that are due, unless another replica does. */
  visitDue(signal: AbortSignal): Promise<void>
  /** Ends the visits in progress. */
  stop(): Promise<void>
}

export interface CrawlerOptions {
  readonly context: Context
  readonly visit: VisitSite
  /** The right to make scheduled visits. */
  readonly lease: CheckLease
  /** Sites that the config lists. */
  readonly configured: readonly URL[]
  /** Throws if the address guard refuses the URL whatever its host resolves to. */
  readonly checkAddress: (url: URL) => void
  readonly httpLoopback: boolean
  readonly onError: (error: unknown) => void
}

/** Sites that one subject may ask for, and all of them together. */
const MAX_SITES_OF_ONE = 100
const MAX_SITES = 5000
/** Subjects that a site remembers; for more it is visited, but they do not see it in their list. */
const MAX_REQUESTERS = 20
/** Sites that are visited at once, by the schedule alone and with requests. */
const MAX_RUNNING = 8
const MAX_REQUESTED = 32
/** Milliseconds that a request waits for the result of the visit. */
const WAIT_MS = 10_000
/** Milliseconds in which a site is not visited again, however often that is requested. */
const MIN_REVISIT_MS = 60_000
/** Milliseconds that one visit may take. */
const MAX_VISIT_MS = 900_000
/** Milliseconds between reads of what other replicas have changed, and by which their clocks may differ. */
const SYNC_MS = 10_000
const OVERLAP_MS = 60_000

interface Running {
  readonly done: Promise<Visited | undefined>
  readonly site: Site
  /** Ends it without a result. */
  drop(): void
}

interface Visited {
  readonly site: Site
  readonly outcome: SiteOutcome
}

export function createCrawler(options: CrawlerOptions): Crawler {
  const { context, visit, lease, checkAddress, httpLoopback, onError } = options
  const { now } = context
  const store = context.store.trust
  const configured = new Map(options.configured.map((url) => [siteIdOf(url), url.href]))
  /** The time of the next visit to each site, and who requested it. Everything else stays in the store. */
  const schedule = new Map<string, Pick<Site, 'nextAt' | 'requestedBy'>>()
  const running = new Map<string, Running>()
  let readAt = Number.NEGATIVE_INFINITY

  const isOver = (site: Site): boolean => endOfSite(site) <= now() && !configured.has(site.id)

  const read = async (id: string): Promise<{ site: Site; version: number } | undefined> => {
    const entry = await store.get('crawl', id)
    const site = entry && toSite(entry)
    if (site && !isOver(site)) return { site, version: entry.version }
    if (!configured.has(id)) schedule.delete(id)
    return undefined
  }

  const sync = async (): Promise<void> => {
    const since = Math.max(0, Math.min(readAt, now()) - OVERLAP_MS)
    readAt = now()
    for (const entry of await store.list('crawl', since)) {
      const { id, nextAt, requestedBy } = toSite(entry)
      schedule.set(id, { nextAt, requestedBy })
    }
    for (const id of configured.keys()) if (!schedule.has(id)) schedule.set(id, { nextAt: 0, requestedBy: [] })
  }

  /** Stores what a change makes of the site; undefined if it has been removed. */
  const save = async (
    id: string,
    change: (current: Site | undefined) => Site | undefined,
    audit?: AuditEntry,
  ): Promise<Site | undefined> => {
    for (;;) {
      const entry = await store.get('crawl', id)
      const site = change(entry && toSite(entry))
      if (!site) return undefined
      if (await store.put(toEntry(site, entry?.version ?? 0, now()), audit)) {
        schedule.set(id, { nextAt: site.nextAt, requestedBy: site.requestedBy })
        return site
      }
    }
  }

  /** Visits a site while no other process visits its host; undefined if one does. */
  const run = async (site: Site, signal: AbortSignal): Promise<Visited | undefined> => {
    const { host } = new URL(site.url)
    const hostLease = createCheckLease({ store, key: `crawl ${host}`, now })
    if (!(await hostLease.hold())) return undefined
    try {
      return await visit(site, { signal, mayContinue: hostLease.hold })
    } finally {
      await hostLease.release()
    }
  }

  /** @param audit the request for a site that is not known yet */
  const start = (site: Site, audit?: AuditEntry): Running => {
    const isNew = audit !== undefined
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(), MAX_VISIT_MS)
    let isDropped = false
    const work = async (): Promise<Visited | undefined> => {
      const visited = await run(site, limit.signal)
      if (!visited) schedule.set(site.id, { requestedBy: site.requestedBy, nextAt: now() + SYNC_MS })
      if (!visited || isDropped || (isNew && isEmpty(visited))) return visited
      const saved = await save(
        site.id,
        (current) => {
          if (!current && !isNew && !configured.has(site.id)) return undefined
          return { ...visited.site, requestedBy: current?.requestedBy ?? site.requestedBy }
        },
        audit,
      )
      return { ...visited, site: saved ?? visited.site }
    }
    const done = work().finally(() => {
      clearTimeout(timer)
      running.delete(site.id)
    })
    // A request that waits gets the error too.
    done.catch(onError)
    const drop = (): void => {
      isDropped = true
      limit.abort()
    }
    const started: Running = { done, site, drop }
    running.set(site.id, started)
    return started
  }

  const newSite = (id: string, url: string, requestedBy: readonly string[]): Site => ({
    ...{ id, url, requestedBy, pages: [], since: now(), failures: 0 },
    nextAt: now() + MIN_REVISIT_MS,
  })

  const assertRoom = async (subject: string): Promise<void> => {
    await sync()
    const own = [...schedule.values()].filter(({ requestedBy }) => requestedBy.includes(subject))
    if (own.length >= MAX_SITES_OF_ONE)
      throw new DirectoryError('quota_exceeded', `you may have ${MAX_SITES_OF_ONE} sites crawled`)
    if (schedule.size >= MAX_SITES)
      throw new DirectoryError('quota_exceeded', `this directory crawls ${MAX_SITES} sites already`)
  }

  return {
    async request(text, caller) {
      const url = readSiteUrl(text, httpLoopback, checkAddress)
      const subject = assertMayRequest(caller)
      const id = siteIdOf(url)
      const audit = auditOf(caller, 'crawl.request', now(), { detail: url.href })
      const known = await read(id)
      if (!known && !running.has(id)) await assertRoom(subject)
      if (known && !known.site.requestedBy.includes(subject) && known.site.requestedBy.length < MAX_REQUESTERS) {
        const requestedBy = [...known.site.requestedBy, subject]
        await save(id, (current) => current && { ...current, requestedBy }, audit)
      }
      if (known && !running.has(id) && !mayRevisit(known.site, now()))
        return { site: known.site, isRunning: false, isNew: false }
      if (!running.has(id) && running.size >= MAX_REQUESTED)
        throw new DirectoryError('unavailable', 'too many sites are being visited: try again later', { retryAfter: 10 })
      const { done, site } =
        running.get(id) ?? (known ? start(known.site) : start(newSite(id, url.href, [subject]), audit))
      const visited = await withinWait(done)
      if (visited === 'waiting' || !visited) {
        // It goes on in the background, here or in another process, and is found in the list.
        const stored = known?.site ?? (await save(id, (current) => current ?? site, audit)) ?? site
        return { site: stored, isRunning: true, isNew: !known }
      }
      if (!known && isEmpty(visited)) throw nothingFound(url, visited.outcome)
      return { site: visited.site, isRunning: false, isNew: !known }
    },
    async list(caller) {
      await sync()
      const isOwn = ([, { requestedBy }]: [string, Pick<Site, 'requestedBy'>]): boolean =>
        requestedBy.includes(caller.subject ?? '')
      const sites = isAdmin(caller)
        ? (await store.list('crawl')).map(toSite)
        : (await Promise.all([...schedule].filter(isOwn).map(([id]) => read(id)))).flatMap((known) => known?.site ?? [])
      return sites.filter((site) => !isOver(site)).map((site) => ({ site, isRunning: running.has(site.id) }))
    },
    async remove(id, caller) {
      if (configured.has(id))
        throw new DirectoryError('conflict', `the site is listed in the config: remove it from crawl.urls`)
      running.get(id)?.drop()
      for (;;) {
        const known = await read(id)
        if (!known) throw new DirectoryError('not_found', `there is no crawled site with the id "${id}"`)
        const audit = auditOf(caller, 'crawl.remove', now(), { detail: known.site.url })
        if (!(await store.delete({ kind: 'crawl', key: id, version: known.version }, audit))) continue
        schedule.delete(id)
        for (const { url, agent } of known.site.pages) {
          const listed = agent === undefined ? undefined : context.catalog.get(agent)
          if (listed?.stored.marks.crawled?.url === url) await removeAgent(context, listed.record.id, caller)
        }
        return
      }
    },
    async visitDue(signal) {
      if (!(await lease.hold())) return
      if (Math.abs(now() - readAt) >= SYNC_MS) await sync()
      for (const [id, { nextAt, requestedBy }] of schedule) {
        if (signal.aborted || running.size >= MAX_RUNNING) return
        const isWanted = requestedBy.length > 0 || configured.has(id)
        if (nextAt > now() || !isWanted || running.has(id)) continue
        const known = await read(id)
        const url = configured.get(id)
        if (known && known.site.nextAt > now()) schedule.set(id, { nextAt: known.site.nextAt, requestedBy })
        else if (known) start(known.site)
        else if (url !== undefined) start(newSite(id, url, []))
      }
    },
    async stop() {
      const visits = [...running.values()]
      for (const { drop } of visits) drop()
      await Promise.allSettled(visits.map(({ done }) => done))
    },
  }
}

/** The result of a visit, or `waiting` if it takes longer than a request should. */
async function withinWait<T>(done: Promise<T>): Promise<T | 'waiting'> {
  let timer: NodeJS.Timeout | undefined
  const waiting = new Promise<'waiting'>((resolve) => {
    timer = setTimeout(() => resolve('waiting'), WAIT_MS)
  })
  try {
    return await Promise.race([done, waiting])
  } finally {
    clearTimeout(timer)
  }
}

/** Not too often, and not before the time that the host asked for. */
const mayRevisit = ({ visitedAt = 0, failures, nextAt }: Site, now: number): boolean =>
  failures > 0 ? nextAt <= now : now - visitedAt >= MIN_REVISIT_MS

const isEmpty = ({ site }: Visited): boolean => site.pages.length === 0
