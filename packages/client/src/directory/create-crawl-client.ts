import { asObjects, asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { type ConnectionOptions, openRequester, type RequestOptions } from './requester.js'

/** What a directory found at one place of a site. */
export interface CrawledDocument {
  readonly url: string
  /** The id of its agent. */
  readonly agent?: string
  /** `created`, `updated`, `unchanged`, `stale`, `removed`, `skipped` or `failed`. */
  readonly status: string
  /** Why it was skipped, failed or is no longer there. */
  readonly reason?: string
}

/** A site that a directory reads regularly. */
export interface CrawledSite {
  readonly id: string
  readonly url: string
  /** `running`: the directory is still reading it. */
  readonly state: 'read' | 'running' | 'failed'
  /** Why the last visit failed. */
  readonly reason?: string
  readonly agents: readonly CrawledDocument[]
  /** RFC 3339. */
  readonly crawledAt?: string
  readonly nextAt?: string
  /** As the directory shows it. */
  readonly document: JsonObject
}

/** Sites that a directory reads for agents. Every method throws a `ClientError` if it fails. */
export interface CrawlClient {
  /**
   * Has the directory read the agents that a site publishes, now and regularly: the URL of a card, or a host. They belong
   * to the site's domain. If it takes long, the state is `running`, and `list` shows the result.
   */
  crawl(url: string, options?: RequestOptions): Promise<CrawledSite>
  /** The sites that you have asked to be crawled; for administrators, all. */
  list(options?: RequestOptions): Promise<readonly CrawledSite[]>
  /** Forgets a site and removes the agents that were found there; needs the `admin` scope. */
  remove(id: string, options?: RequestOptions): Promise<void>
}

/**
 * A client for crawling, apart from `createClient` so that programs that only use a directory do not load it.
 *
 * @example
 * const sites = createCrawlClient({ baseUrl: 'https://directory.example', token })
 * const { agents } = await sites.crawl('agents.example')
 */
export function createCrawlClient(options: ConnectionOptions): CrawlClient {
  const { request } = openRequester(options)
  return {
    crawl: async (url, more) =>
      readSite((await request({ ...more, method: 'POST', path: '/crawl', body: { url } })).body),
    async list(more) {
      const { body } = await request({ ...more, method: 'GET', path: '/crawl' })
      return asObjects(isObject(body) ? body.sites : undefined).map(readSite)
    },
    async remove(id, more) {
      await request({ ...more, method: 'DELETE', path: `/crawl/${encodeURIComponent(id)}` })
    },
  }
}

function readSite(body: JsonValue | undefined): CrawledSite {
  const site = isObject(body) ? body : {}
  const [id, url, state] = [asString(site.id), asString(site.url), asString(site.state)]
  if (id === undefined || url === undefined)
    throw new ClientError('bad_response', 'the directory did not describe the site that it crawled')
  const [reason, crawledAt, nextAt] = [asString(site.reason), asString(site.crawled_at), asString(site.next_at)]
  return {
    id,
    url,
    state: state === 'running' || state === 'failed' ? state : 'read',
    ...(reason !== undefined && { reason }),
    agents: asObjects(site.agents).map(readDocument),
    ...(crawledAt !== undefined && { crawledAt }),
    ...(nextAt !== undefined && { nextAt }),
    document: site,
  }
}

function readDocument(value: JsonObject): CrawledDocument {
  const [agent, reason] = [asString(value.agent), asString(value.reason)]
  return {
    url: asString(value.url) ?? '',
    status: asString(value.status) ?? '',
    ...(agent !== undefined && { agent }),
    ...(reason !== undefined && { reason }),
  }
}
