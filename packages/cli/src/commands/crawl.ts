import { setTimeout as sleep } from 'node:timers/promises'
import type { CrawlClient, CrawledSite } from '@switchboard/client'
import { toDisplayText } from '@switchboard/client/display-text'
import { command } from '../command/command.js'
import { openCrawl } from '../directory.js'
import { explain, isExpected } from '../explain.js'
import { DIRECTORY_OPTIONS } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJson, printJsonLine, printTable, remark } from '../terminal/print.js'
import { UsageError } from '../usage.js'

/** Milliseconds between looks whether a long visit has ended. */
const POLL_MS = 2000

export const crawl = command({
  summary: 'have the directory read the agents that sites publish',
  usage: ['URL|HOST…', '--list', '--remove ID…'],
  about: `Reads sites now, and from then on regularly. A URL is that of an agent's card or of an agents.json. For a host, the first of these is read: /.well-known/agent-card.json, /.well-known/agent.json and /.well-known/agents.json. The agents belong to the site's domain, not to you. The exit code is 1 if a site has no agents, or one of its documents could not be registered.`,
  options: {
    list: { type: 'boolean', text: 'list the sites that you asked for; with an admin key, all' },
    remove: { type: 'boolean', text: 'forget sites and remove their agents; needs an admin key' },
    ...DIRECTORY_OPTIONS,
  },
  examples: ['switchboard crawl agents.example', 'switchboard crawl https://agents.example/cards/translator.json'],
  async run(values, positionals) {
    if (values.list && values.remove) throw new UsageError('use either --list or --remove')
    if (values.list && positionals.length > 0) throw new UsageError('--list takes no sites')
    const sites = await openCrawl(values)
    if (values.list) return list(sites, values.json === true)
    if (positionals.length === 0) throw new UsageError('name at least one site: switchboard crawl URL|HOST…')
    if (values.remove) {
      for (const id of positionals) {
        await sites.remove(id)
        if (values.json) await printJsonLine({ id, removed: true })
        else await print(`removed ${id}\n`)
      }
      return 0
    }
    return crawlAll(sites, positionals, values.json === true)
  },
})

/** A site that fails does not stop the others. */
async function crawlAll(sites: CrawlClient, urls: readonly string[], asJson: boolean): Promise<number> {
  const signal = untilInterrupted()
  let isFailed = false
  for (const url of urls) {
    try {
      const site = await untilRead(sites, await sites.crawl(url, { signal }), signal)
      isFailed ||= site.state === 'failed' || site.agents.some(({ status }) => status === 'failed')
      await report(site, asJson)
    } catch (error) {
      if (!isExpected(error)) throw error
      isFailed = true
      remark(`${url}: ${explain(error).line}`)
    }
    if (signal.aborted) break
  }
  return isFailed || signal.aborted ? 1 : 0
}

async function untilRead(sites: CrawlClient, site: CrawledSite, signal: AbortSignal): Promise<CrawledSite> {
  let current = site
  if (current.state === 'running') remark(`${site.url}: reading …`)
  while (current.state === 'running' && !signal.aborted) {
    await sleep(POLL_MS, undefined, { signal }).catch(() => {})
    const known = await sites.list({ signal })
    current = known.find(({ id }) => id === site.id) ?? { ...current, state: 'failed' }
  }
  return current
}

async function report({ url, agents, reason, document }: CrawledSite, asJson: boolean): Promise<void> {
  if (asJson) return printJsonLine(document)
  for (const { url: from, agent, status, reason: why } of agents)
    await print(`${toDisplayText(`${status.padEnd(9)} ${agent ?? from}${why === undefined ? '' : `: ${why}`}`)}\n`)
  if (reason !== undefined) remark(`${url}: ${reason}`)
}

async function list(sites: CrawlClient, asJson: boolean): Promise<number> {
  const known = await sites.list()
  if (asJson) await printJson(known.map(({ document }) => document))
  else await printTable(['ID', 'SITE', 'STATE', 'AGENTS', 'CRAWLED', 'NEXT'], known.map(toRow), 'no sites')
  return 0
}

const toRow = ({ id, url, state, agents, crawledAt = '', nextAt = '' }: CrawledSite): string[] => [
  id,
  url,
  state,
  String(agents.filter(({ agent }) => agent !== undefined).length),
  crawledAt,
  nextAt,
]
