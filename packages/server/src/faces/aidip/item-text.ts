import { toAidip, toAidipSummary } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'
import type { Context } from '../../services/context.js'
import { explainMatch, roundScore } from '../../services/discovery/explain-score.js'
import type { Found, FoundPage } from '../../services/discovery/find.js'
import { renderOnce } from '../respond.js'
import { type AidipQuery, isRevision00 } from './search-request.js'

/** The item as cached text; what depends on the query is inserted before the closing brace. */
export function itemText(
  context: Context,
  request: FastifyRequest,
  query: AidipQuery,
  hit: Found,
  { evidenceOf, factorsOf, corrected }: FoundPage,
): string {
  const { agent, record, score } = hit
  const revision = isRevision00(request) || query.shape === 'object' ? '00' : '01'
  const view = query.full ? `aidip${revision}` : 'aidip-summary'
  const text = renderOnce(agent, record.redacted ? `${view}.r` : view, () =>
    query.full
      ? toAidip(record, context.catalog.facts(agent), revision)
      : toAidipSummary(record, context.catalog.facts(agent)),
  )
  if (score === undefined || !query.ranked) return text
  const match = query.explained ? explainMatch(context, hit, { ...evidenceOf(hit), corrected }, factorsOf(hit)) : {}
  return `${text.slice(0, -1)},${JSON.stringify({ score: roundScore(score), ...match }).slice(1)}`
}
