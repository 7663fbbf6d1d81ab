import { assertValid, compileSchema, invalid, isObject, type JsonObject } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context } from '../../services/context.js'
import { type CountedTerm, countTerm } from '../../services/discovery/count-term.js'
import { findMatches } from '../../services/discovery/find-matches.js'
import { readJson, readLanguages } from '../read-request.js'
import { sendJson } from '../respond.js'
import { querySchema, readArdQuery, readTerm } from './ard-query.js'

/** Terms whose values are counted: those that several agents share. */
const FACETS = [
  ...['type', 'publisher', 'tags', 'capabilities', 'version', 'metadata.status', 'metadata.authentication'],
  ...['trustManifest.attestations.type', 'trustManifest.provenance.relation'],
]
const MAX_FACETS = 10
const BUCKETS = { default: 20, most: 100 }
/** Agents that are counted in the time in which one is checked against a filter. */
const COUNTED_PER_CHECK = 10

/** The body of POST /ard/explore (ARD 0.91 §5.3.3). */
export const exploreSchema: JsonObject = {
  type: 'object',
  required: ['resultType'],
  properties: {
    query: querySchema,
    resultType: {
      type: 'object',
      required: ['facets'],
      properties: {
        facets: {
          type: 'array',
          minItems: 1,
          maxItems: MAX_FACETS,
          items: {
            type: 'object',
            required: ['field'],
            properties: {
              field: { type: 'string', description: `one of ${FACETS.join(', ')}` },
              limit: { type: 'integer', minimum: 1, description: `buckets: 20 by default, ${BUCKETS.most} at most` },
              minCount: { type: 'integer', minimum: 1, description: 'leave out values with fewer entries' },
            },
          },
        },
      },
    },
  },
}
const check = compileSchema(exploreSchema)

interface Facet extends CountedTerm {
  /** As the client writes it. */
  readonly field: string
}

/** Counts the values of terms among all entries that a search would find. */
export async function exploreEntries(
  context: Context,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const body = readJson(request)
  assertValid(check(body))
  const { query, resultType } = isObject(body) ? body : {}
  const facets = readFacets(resultType, isObject(query) ? query['@context'] : undefined)
  const { matches, visited } = await findMatches(context, {
    ...readArdQuery(context, query),
    caller: request.caller,
    callerLanguages: readLanguages(request),
    trace: request.trace,
  })
  request.visited += visited + Math.ceil((matches.length * facets.length) / COUNTED_PER_CHECK)
  const counted: [string, JsonObject][] = []
  for (const facet of facets) counted.push([facet.field, await countTerm(context, matches, facet)])
  return sendJson(reply, { resultType: 'facets', facets: Object.fromEntries(counted) })
}

function readFacets(resultType: JsonObject[string] | undefined, prefixes: JsonObject[string] | undefined): Facet[] {
  const list = isObject(resultType) && Array.isArray(resultType.facets) ? resultType.facets : []
  return list.flatMap((facet, i): Facet[] => {
    if (!isObject(facet)) return []
    const { field, limit, minCount } = facet
    const at = `/resultType/facets/${i}/field`
    const named = readTerm(String(field), prefixes, `${at} `)
    if (!FACETS.includes(named.path)) throw invalid([{ at, message: `must be one of ${FACETS.join(', ')}` }])
    return [
      {
        ...named,
        field: String(field),
        limit: Math.min(typeof limit === 'number' ? limit : BUCKETS.default, BUCKETS.most),
        minCount: typeof minCount === 'number' ? minCount : 1,
      },
    ]
  })
}
