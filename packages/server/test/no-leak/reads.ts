import type { JsonObject } from '@switchboard/protocol'
import { IDS } from './world.js'

/** A request that changes nothing; `{n}` stands for the number of the registration of `agent`, `{since}` for a cursor of the change feed. */
export interface Read {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly url: string
  readonly body?: JsonObject
  readonly agent?: string
}

const get = (url: string): Read => ({ method: 'GET', url })
const post = (url: string, body: JsonObject): Read => ({ method: 'POST', url, body })

const LISTS = [
  ...['/agents', '/v1/agents', '/v0/agents', '/agents/public', '/v0/agents/public'].map(get),
  ...['top=1', 'top=1&skip=1', 'skip=2', 'include_metadata=true', 'ranked=false', 'ranked=false&top=2&skip=1'].map(
    (query) => get(`/agents?${query}`),
  ),
  ...['tags=red', 'tags=red,blue', 'capabilities=probe', 'version=1.0.0', 'visibility=private', 'status=inactive'].map(
    (query) => get(`/agents?${query}`),
  ),
  ...['q=contracts', 'q=quokka', 'q=translates+letters&top=1', 'id=hid-1', 'id=open-1', 'notes=quokka'].map((query) =>
    get(`/agents?${query}`),
  ),
  ...['', '?count=1', '?count=1&page=1', '?agent=hid*', '?agent=*&count=2', '?tag=red', '?cap_name=probe'].map(
    (query) => get(`/ad/l${query}`),
  ),
  get('/.well-known/agents.json'),
  // Not /ard/catalogs/{page}: which page an agent is on follows from its number, which counts all (docs/adr/0008).
  ...['/.well-known/ard.json', '/.well-known/ai-catalog.json', '/ard/agents'].map(get),
  ...["displayName = 'i'", "publisherId = 'agent.localhost'", "updatedAfter > '2000-01-01'"].map((filter) =>
    get(`/ard/agents?filter=${encodeURIComponent(filter)}&orderBy=displayName`),
  ),
  ...['', '?limit=1', '?limit=2', '?since={since}', '?limit=1&since={since}'].map((query) => get(`/feed${query}`)),
  ...['', '?limit=1', '?search=quokka', '?include_deleted=true', '?updated_since=2020-01-01T00:00:00Z'].map((query) =>
    get(`/v0.1/servers${query}`),
  ),
  { method: 'HEAD', url: '/agents' } as const,
  { method: 'HEAD', url: '/.well-known/agents.json' } as const,
]

const SEARCHES = [
  post('/agents/search', { query: 'translates contracts' }),
  post('/agents/search', { query: 'quokka', top: 1, include_metadata: true }),
  post('/agents/search', { filters: { tags: ['blue'] }, ranked: false }),
  post('/agents/search', {}),
  post('/v0/agents/search', { query: 'reads aloud', skip: 1 }),
  post('/discover', { query: 'contracts', include_evidence: true, detail: 'full' }),
  post('/discover', { query: 'letters', required_tags: ['red'], preferred_tags: ['blue'] }),
  post('/discover', { query: 'quokka', excluded_tags: ['blue'] }),
  post('/ard/search', { query: { text: 'contracts' }, pageSize: 100 }),
  post('/ard/search', { query: { text: 'quokka', filter: { tags: ['red', 'blue'] } }, pageSize: 100 }),
  post('/ard/explore', { resultType: { facets: [{ field: 'tags' }, { field: 'capabilities', limit: 1 }] } }),
  post('/ard/explore', { query: { text: 'letters' }, resultType: { facets: [{ field: 'version' }] } }),
  post('/resolve', { intent: 'read contracts', policy: { min_quality_score: 1 } }),
  post('/resolve', { intent: 'translate letters' }),
]

const ofAgent = (id: string): Read[] => [
  ...['/agents/', '/v0/agents/', '/v1/agents/', '/discover/agents/'].map((path) => get(path + id)),
  ...['agent.json', 'agent-card.json', 'agent-card.json?version=0.3', 'server.json'].map((file) =>
    get(`/agents/${id}/${file}`),
  ),
  get(`/ad/l?agent=${id}`),
  get(`/ard/agents/urn:air:agent.localhost:agent:${id}`),
  { method: 'GET', url: '/ad/r/{n}', agent: id },
]

/** The read routes of all drafts. */
export const READS: readonly Read[] = [...LISTS, ...SEARCHES, ...[...IDS, 'nobody'].flatMap(ofAgent)]
