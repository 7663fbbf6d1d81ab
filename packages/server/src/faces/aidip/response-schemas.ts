import { FACETS } from '@switchboard/search'
import { component } from '../schemas/component.js'
import { amount, count, list, object, text, texts } from '../schemas/parts.js'
import { type DescribedResponse, json } from '../schemas/response.js'
import { matchMembers, scoreSchema, spellingMembers } from '../schemas/search.js'
import { searchRequestSchema } from './search-request.js'

export const searchRequest = component('SearchRequest', searchRequestSchema)

/** Members of an agent in lists. */
export const summaryMembers = {
  id: text,
  name: text,
  description: text,
  endpoint: text,
  capabilities: texts,
  tags: texts,
  status: text,
  origin_service: text,
}

const agentResult = component('AgentResult', {
  ...object(
    { ...summaryMembers, score: scoreSchema, ...matchMembers },
    ...['tags', 'status', 'origin_service', 'score', ...Object.keys(matchMembers)],
  ),
  description: 'a summary; with `include_metadata` an AidipView',
  additionalProperties: true,
})

const facets = object(
  Object.fromEntries(FACETS.map((facet) => [facet, list(object({ value: text, count }))])),
  ...FACETS,
)

const pageMembers = {
  count,
  top: count,
  skip: count,
  query: text,
  next: text,
  facets,
  ...spellingMembers,
  warnings: texts,
}
const optional = ['query', 'next', 'facets', ...Object.keys(spellingMembers), 'warnings']

const agentList = component('AgentList', object({ agents: list(agentResult), ...pageMembers }, ...optional))
const searchResults = component(
  'SearchResults',
  object({ results: list(agentResult), search_time: amount, ...pageMembers }, ...optional),
)

const page = (description: string, shape: typeof agentList): DescribedResponse =>
  json(description, { anyOf: [list(agentResult), shape] })

export const listResponse = page('summaries: an array (01) or an object (00)', agentList)
export const searchResponse = page('summaries: an array (01) or an object with results (00)', searchResults)
