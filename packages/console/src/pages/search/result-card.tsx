import { Anchor, Badge } from '@mantine/core'
import { type AgentSummary, toDisplayText } from '@switchboard/client/discovery'
import { asObjects, asString, isObject } from '@switchboard/protocol/json'
import { memo, type ReactNode, useMemo } from 'react'
import { Link } from 'wouter'
import { addressOf } from '../../app/address.js'
import { strings } from '../../strings.js'
import { Passage, ScoreDetails, wordsOf } from './evidence.js'
import { Highlighted } from './highlight.js'

const { search } = strings

/** Tags, capabilities and operations that are listed; the agent's page has the others. */
const MAX_LISTED = 8
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/** An agent in the list of results, and why it is there. */
export const ResultCard = memo(function ResultCard({
  agent,
  searchId,
}: {
  readonly agent: AgentSummary
  readonly searchId: string | undefined
}): ReactNode {
  const words = useMemo(() => wordsOf(agent), [agent])
  const { publisher, operations, expires_at } = agent.document
  const names = [...asObjects(operations).flatMap(({ name }) => asString(name) ?? []), ...agent.capabilities]
  return (
    <article className="search-result">
      <div className="search-result-head">
        <Anchor component={Link} href={addressOf.agent(agent.id, searchId)} fw={600} data-result>
          <Highlighted text={agent.name || agent.id} words={words} />
        </Anchor>
        <span className="search-by">{toDisplayText(asString(publisher) ?? agent.id)}</span>
        <Marks agent={agent} />
      </div>
      <p className="search-description">
        <Highlighted text={agent.description} words={words} />
      </p>
      <Passage agent={agent} words={words} />
      <div className="search-result-foot">
        <Names label={search.offers} names={names} words={words} />
        <Names label={search.tags} names={agent.tags} words={words} isTag />
        <Freshness expiresAt={asString(expires_at)} />
      </div>
      <ScoreDetails agent={agent} words={words} />
    </article>
  )
})

/** What sets an agent apart from an ordinary one: its status, and what the operator says about it. */
function Marks({ agent: { status, document } }: { readonly agent: AgentSummary }): ReactNode {
  const { state, unsafe, warnings } = isObject(document.verification) ? document.verification : {}
  const hasWarnings = Array.isArray(warnings) && warnings.length > 0
  const origin = asString(document.origin_service)
  return (
    <>
      {state === 'verified' && (
        <Badge size="sm" variant="light" color="teal">
          {search.verified}
        </Badge>
      )}
      {status !== undefined && status !== 'active' && (
        <Badge size="sm" variant="light" color="gray">
          {toDisplayText(status)}
        </Badge>
      )}
      {(unsafe === true || hasWarnings) && (
        <Badge size="sm" variant="light" color={unsafe === true ? 'red' : 'yellow'}>
          {unsafe === true ? search.unsafe : search.warnings}
        </Badge>
      )}
      {origin !== undefined && <span className="search-by">{search.from(toDisplayText(origin))}</span>}
    </>
  )
}

/** A short list of names on one line. */
function Names({
  label,
  names,
  words,
  isTag = false,
}: {
  readonly label: string
  readonly names: readonly string[]
  readonly words: readonly string[]
  readonly isTag?: boolean
}): ReactNode {
  const distinct = [...new Set(names)]
  if (distinct.length === 0) return null
  return (
    <ul className={isTag ? 'search-names search-tags' : 'search-names search-offers'} aria-label={label}>
      {distinct.slice(0, MAX_LISTED).map((name) => (
        <li key={name}>
          <Highlighted text={name} words={words} />
        </li>
      ))}
      {distinct.length > MAX_LISTED && <li>{search.more(distinct.length - MAX_LISTED)}</li>}
    </ul>
  )
}

/** How long the registration lasts, if it ends. */
function Freshness({ expiresAt }: { readonly expiresAt: string | undefined }): ReactNode {
  const left = expiresAt === undefined ? Number.NaN : Date.parse(expiresAt) - Date.now()
  if (Number.isNaN(left)) return null
  return <span className="search-by">{left < 0 ? search.expired : search.expiresIn(durationOf(left))}</span>
}

const durationOf = (ms: number): string =>
  ms >= 2 * DAY_MS
    ? search.days(Math.floor(ms / DAY_MS))
    : ms >= 2 * HOUR_MS
      ? search.hours(Math.floor(ms / HOUR_MS))
      : search.minutes(Math.max(1, Math.floor(ms / 60_000)))
