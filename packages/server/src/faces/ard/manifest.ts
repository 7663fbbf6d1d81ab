import { CATALOG_TYPE, DirectoryError, type JsonObject, publisherOf } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { asAnonymous } from '../../policy/caller.js'
import type { Context } from '../../services/context.js'
import type { PublicPages } from '../../services/discovery/public-pages.js'
import { isListUnchanged } from '../list-validators.js'
import { listParts, sendParts } from '../send-parts.js'
import { entryText } from './list.js'
import { registryUrl } from './search.js'

/** Where clients look for the entries of a host: ARD 0.91 has the first path, ARD 0.9 and AI Catalog the second. */
export const MANIFEST_PATHS = { ard: '/.well-known/ard.json', catalog: '/.well-known/ai-catalog.json' }

/** Agents that the manifest lists itself; if there are more, it leads to catalogs with a part of them each. */
const MAX_INLINE = 1000

interface EntriesOptions {
  readonly context: Pick<Context, 'catalog'>
  readonly pages: PublicPages
  readonly baseUrl: () => string
}

export interface ManifestOptions extends EntriesOptions {
  readonly context: Context
}

/** Tells clients where the manifests are (ARD 0.91 §5.1, AI Catalog: Link Relation Discovery). */
export const manifestLinks = (base: string): string =>
  `<${base}${MANIFEST_PATHS.ard}>; rel="ard"; type="application/json", <${base}${MANIFEST_PATHS.catalog}>; rel="ai-catalog"; type="${CATALOG_TYPE}"`

/** Sends the manifest of the directory: its search interface and its public agents. */
export const sendManifest = (
  options: ManifestOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
): FastifyReply => sendCatalog(options, request, reply, type, () => manifestEntries(options))

/** The entries of the manifest, as JSON. */
export function manifestEntries({ context, pages, baseUrl }: EntriesOptions): string[] {
  const base = baseUrl()
  const registry = JSON.stringify(toRegistry(base))
  const numbers = pages.numbers()
  return pages.size > MAX_INLINE
    ? [registry, ...numbers.map((page) => JSON.stringify(toNested(base, page)))]
    : [registry, ...numbers.flatMap((page) => pageEntries({ context, pages }, page))]
}

/** The entries of one part of the public agents, as strangers see them, as JSON. */
export const pageEntries = ({ context, pages }: Omit<EntriesOptions, 'baseUrl'>, page: number): string[] =>
  pages.agentsOn(page).map((agent) => entryText(context, { agent, record: agent.shown }))

/** Sends a part of the public agents. */
export function sendNested(
  options: ManifestOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  page: string,
): FastifyReply {
  const entries = /^\d{1,9}$/.test(page) ? pageEntries(options, Number(page)) : []
  if (entries.length === 0) throw new DirectoryError('not_found', `there is no catalog "${page}"`)
  return sendCatalog(options, request, reply, CATALOG_TYPE, () => entries)
}

function sendCatalog(
  { context, baseUrl }: ManifestOptions,
  request: FastifyRequest,
  reply: FastifyReply,
  type: string,
  entries: () => string[],
): FastifyReply {
  const base = baseUrl()
  const isUnchanged = isListUnchanged(request, reply, context, {
    caller: asAnonymous(request.caller),
    showsTimes: false,
  })
  reply.header('link', manifestLinks(base))
  if (isUnchanged) return reply.code(304).send()
  const host = { displayName: 'Switchboard', identifier: publisherOf(base), documentationUrl: `${base}/docs` }
  const start = `{"specVersion":"1.0","host":${JSON.stringify(host)},"entries":[`
  return sendParts(reply, listParts(start, entries(), ']}'), type)
}

/** The search interface of this directory as an entry: clients find it by its type (ARD 0.91 §5.3). */
const toRegistry = (base: string): JsonObject => ({
  identifier: `urn:air:${publisherOf(base)}:registry:switchboard`,
  displayName: 'Switchboard',
  type: 'application/ai-registry+json',
  url: registryUrl(base),
  description: 'Search for agents by what they do, count them by type, tag or publisher, and browse all of them.',
  tags: ['registry', 'search'],
  representativeQueries: ['find an agent that translates contracts', 'which agents can read invoices'],
})

const toNested = (base: string, page: number): JsonObject => ({
  identifier: `urn:air:${publisherOf(base)}:catalog:${page}`,
  displayName: `Agents, part ${page + 1}`,
  type: CATALOG_TYPE,
  url: `${base}/ard/catalogs/${page}`,
  description: 'A part of the agents of this directory.',
})
