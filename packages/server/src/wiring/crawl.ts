import { isProduction } from '../config/settings.js'
import type { Gateway } from '../gateway/gateway.js'
import { crawlTimes, parseSiteUrl } from '../policy/crawl.js'
import type { Context } from '../services/context.js'
import { type Crawler, createCrawler } from '../services/crawl/crawler.js'
import { createRegisterFound } from '../services/crawl/register-found.js'
import { createSendPolitely } from '../services/crawl/send-politely.js'
import { createVisitSite } from '../services/crawl/visit-site.js'
import { createCheckLease } from '../services/trust/check-lease.js'
import { createSchedule } from '../services/trust/schedule.js'
import type { Base } from './base.js'

/** Milliseconds between looks for visits that are due. */
const TICK_MS = 1000
/** The name by which robots.txt files know us. */
const PRODUCT = 'Switchboard'

export interface CrawlParts {
  readonly crawler: Crawler
  start(): void
  stop(): Promise<void>
}

/** Crawling of sites; undefined if the operator has switched it off. */
export function wireCrawl(
  { config, store, now, monotonic, baseUrl, logError }: Base,
  context: Context,
  { fetch, checkAddress }: Gateway,
  version: string,
): CrawlParts | undefined {
  const { enabled, urls, intervalSeconds, pauseMs, maxAgentsPerSite, contact } = config.crawl
  if (!enabled) return undefined
  const httpLoopback = !isProduction(config)
  const { lifetime, intervalMs } = crawlTimes(intervalSeconds, context.maxLifetime)
  const lease = createCheckLease({ store: store.trust, key: 'crawl', now })
  const crawler = createCrawler({
    context,
    visit: createVisitSite({
      send: createSendPolitely({
        fetch,
        product: PRODUCT,
        userAgent: () => `${PRODUCT}/${version} (+${contact ?? baseUrl()})`,
        pauseMs,
        now,
        monotonic,
      }),
      registerFound: createRegisterFound({ context, lifetime, httpLoopback }),
      intervalMs,
      maxAgents: maxAgentsPerSite,
      httpLoopback,
      now,
      random: Math.random,
    }),
    lease,
    configured: urls.map((url) => parseSiteUrl(url, httpLoopback)),
    checkAddress,
    httpLoopback,
    onError: logError('could not crawl a site'),
  })
  const schedule = createSchedule(crawler.visitDue, TICK_MS, logError('could not crawl sites'))
  return {
    crawler,
    start: schedule.start,
    async stop() {
      await Promise.all([schedule.stop(), crawler.stop()])
      await lease.release()
    },
  }
}
