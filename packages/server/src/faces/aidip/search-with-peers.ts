import { toAidip, toAidipSummary } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { Context } from '../../services/context.js'
import { roundScore } from '../../services/discovery/explain-score.js'
import type { Found, FoundPage } from '../../services/discovery/find.js'
import { type FanOut, joinAnswers } from '../../services/federation/fan-out.js'
import type { Span } from '../../telemetry/traces.js'
import { type AidipQuery, MAX_TOP } from './search-request.js'

/** The texts of a page, and what the response says about the whole. */
export interface RenderedPage
  extends Pick<FoundPage, 'total' | 'warnings' | 'visited' | 'corrected' | 'suggestions' | 'facets'> {
  readonly searchId: string | undefined
  readonly items: readonly string[]
}

/** Searches here and at the peers; the order, and the scores, are those of the joined ranks. */
export async function searchWithPeers(
  { context, fanOut }: { readonly context: Context; readonly fanOut: FanOut },
  caller: Caller,
  trace: Span | undefined,
  query: AidipQuery,
  find: (skip: number, take: number) => Promise<FoundPage>,
  render: (hit: Found, page: FoundPage) => string,
): Promise<RenderedPage> {
  const { conditions, federated, skip, top, full } = query
  const take = skip + top
  const asked = fanOut.ask({
    by: 'aidip',
    // Whole documents, which are checked here.
    body: { ...federated?.body, top: Math.min(take, MAX_TOP), include_metadata: true },
    conditions,
    deadlineMs: federated?.deadlineMs,
    trace,
  })
  const page = await find(0, take)
  const { found, searchIdFor } = page
  const answers = await asked
  const joined = joinAnswers(context, caller, found, answers)
  const items = joined.slice(skip, take).map((item) => {
    if ('local' in item) return render({ ...item.local, score: item.score }, page)
    const { record, facts } = item.remote
    const score = query.ranked ? { score: roundScore(item.score) } : {}
    return JSON.stringify({ ...(full ? toAidip(record, facts) : toAidipSummary(record, facts)), ...score })
  })
  const remote = joined.filter((item) => 'remote' in item).length
  const local = joined.slice(skip, take).flatMap((item) => ('local' in item ? item.local : []))
  const searchId = searchIdFor(local)
  return { ...page, items, searchId, total: page.total + remote, warnings: [...page.warnings, ...answers.warnings] }
}
