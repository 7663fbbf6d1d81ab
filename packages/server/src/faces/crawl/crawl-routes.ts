import { assertValid, compileSchema, type JsonObject } from '@switchboard/protocol'
import type { Crawler, ShownSite } from '../../services/crawl/crawler.js'
import type { SitePage } from '../../services/crawl/site.js'
import { idOf, readJsonObject } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { component } from '../schemas/component.js'
import { count, list, object, oneOf, text, time } from '../schemas/parts.js'
import { json } from '../schemas/response.js'

const crawlSchema: JsonObject = {
  type: 'object',
  required: ['url'],
  properties: { url: { type: 'string', minLength: 1, maxLength: 2048 } },
}
const checkCrawl = compileSchema(crawlSchema)

const siteSchema = component(
  'CrawledSite',
  object(
    {
      id: text,
      url: text,
      state: oneOf('running', 'read', 'failed'),
      reason: text,
      agents: list(
        object(
          {
            url: text,
            agent: text,
            status: oneOf('created', 'updated', 'unchanged', 'stale', 'removed', 'skipped', 'failed'),
            code: text,
            reason: text,
          },
          ...['agent', 'code', 'reason'],
        ),
      ),
      crawled_at: time,
      next_at: time,
      failures: count,
    },
    ...['reason', 'crawled_at', 'failures'],
  ),
)

/** Sites that are crawled for agents (C-46). */
export function createCrawlRoutes(crawler: Crawler): RouteGroup {
  return {
    name: 'crawl',
    summary: 'Reading the agents that a site publishes',
    errors: 'application/json',
    noStore: true,
    routes: [
      {
        method: 'POST',
        path: '/crawl',
        summary: 'Read the agents that a site publishes, now and regularly: the URL of a card, or a host',
        access: 'caller',
        limit: 'register',
        body: crawlSchema,
        responses: {
          200: json('the site was known already; what was found when it was last read', siteSchema),
          201: json('what was found', siteSchema),
          202: json('it takes longer: GET /crawl shows the result', siteSchema),
          400: 'the URL cannot be crawled',
          403: 'no publish scope, too many sites, or the site does not allow it',
          404: 'the site has no agents',
          502: 'the site could not be read',
        },
        handle: async (request, reply) => {
          const body = readJsonObject(request)
          assertValid(checkCrawl(body))
          const crawled = await crawler.request(String(body.url), request.caller)
          return sendJson(reply.code(crawled.isRunning ? 202 : crawled.isNew ? 201 : 200), showSite(crawled))
        },
      },
      {
        method: 'GET',
        path: '/crawl',
        summary: 'The sites that you have asked to be crawled, and what was found there; for administrators, all',
        access: 'caller',
        limit: 'lookup',
        responses: { 200: json('the sites', object({ sites: list(siteSchema) })) },
        handle: async (request, reply) =>
          sendJson(reply, { sites: (await crawler.list(request.caller)).map(showSite) }),
      },
      {
        method: 'DELETE',
        path: '/crawl/:id',
        summary: 'Stop crawling a site, and remove the agents that were found there',
        access: 'admin',
        limit: 'register',
        responses: { 204: 'removed', 404: 'no such site', 409: 'the config lists the site' },
        handle: async (request, reply) => {
          await crawler.remove(idOf(request), request.caller)
          return reply.code(204).send()
        },
      },
    ],
  }
}

function showSite({ site, isRunning }: ShownSite): JsonObject {
  const { id, url, pages, visitedAt, nextAt, failures, reason } = site
  return {
    id,
    url,
    state: isRunning ? 'running' : reason === undefined ? 'read' : 'failed',
    ...(reason !== undefined && { reason }),
    agents: pages.map(showPage),
    ...(visitedAt !== undefined && { crawled_at: timeOf(visitedAt) }),
    next_at: timeOf(nextAt),
    ...(failures > 0 && { failures }),
  }
}

const showPage = ({ url, agent, status, code, reason }: SitePage): JsonObject => ({
  url,
  ...(agent !== undefined && { agent }),
  status,
  ...(code !== undefined && { code }),
  ...(reason !== undefined && { reason }),
})

const timeOf = (at: number): string => new Date(at).toISOString()
