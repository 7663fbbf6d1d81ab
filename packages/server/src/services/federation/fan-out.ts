import { type AgentRecord, asObjects, isObject, type JsonObject, type RegistryFacts } from '@switchboard/protocol'
import { type Condition, conditionTest } from '@switchboard/search'
import { viewOf } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import { weightOf } from '../../policy/federation.js'
import { fuseRanks } from '../../policy/rank-fusion.js'
import type { FederatedCopy } from '../../store/federation-store.js'
import type { Span, SpanStart, Traces } from '../../telemetry/traces.js'
import type { Context } from '../context.js'
import type { Found } from '../discovery/find.js'
import { toProvenance } from '../registry/agent-facts.js'
import { type Agent, recordOf } from '../registry/catalog.js'
import type { AcceptCopy } from './accept-copy.js'
import { PeerError, type PeerRequest, type PeerResponse } from './peer-request.js'
import type { KnownPeer, Peers } from './peers.js'
import type { PullState } from './pull-state.js'
import type { PeerEntry } from './read-feed.js'
import { toProfileEntry } from './read-profile.js'
import { withoutRegistryMembers } from './registry-members.js'

/** An agent that a peer has just found; this directory has no copy of it. */
export interface RemoteAgent {
  readonly record: AgentRecord
  readonly facts: RegistryFacts
}

/** A result of a search at this directory and at peers. */
export type Joined = { readonly score: number } & ({ readonly local: Found } | { readonly remote: RemoteAgent })

/** Asks the peers while a caller waits; what they answer in time is joined with the local results. */
export interface FanOut {
  ask(question: Question): Promise<Answers>
}

export interface Question {
  /** The interface of the peers that is asked: that of the request. */
  readonly by: 'profile' | 'aidip'
  readonly body: JsonObject
  /** Checked here too: a peer may not know them, or not care. */
  readonly conditions: readonly Condition[]
  readonly deadlineMs: number | undefined
  /** The span of the request. */
  readonly trace: Span | undefined
}

export interface Answers {
  readonly lists: readonly { readonly peer: KnownPeer; readonly agents: readonly RemoteAgent[] }[]
  /** Which peers did not answer, and why. */
  readonly warnings: readonly string[]
}

export interface FanOutOptions {
  readonly peers: Peers
  readonly stateOf: (peer: KnownPeer) => PullState
  readonly request: PeerRequest
  readonly acceptCopy: AcceptCopy
  /** Ids of a peer's agents that operators have rejected. */
  readonly rejectedOf: (peer: string) => Promise<ReadonlySet<string>>
  readonly traces: Traces | undefined
  readonly now: () => number
  readonly onError: (error: unknown) => void
}

/** Milliseconds that peers have. */
const DEADLINE_MS = { default: 1500, longest: 5000 }
/** Failures in a row after which a peer is not asked: callers need not wait for it every time. */
const MAX_FAILURES = 3
/** Requests to peers at the same time: every search of a caller causes one for each peer. */
const MAX_REQUESTS = 64
/** Results of one peer that are looked at. */
const MAX_RESULTS = 100

export function createFanOut(options: FanOutOptions): FanOut {
  const { peers, stateOf, request, traces, acceptCopy, rejectedOf, now, onError } = options
  let open = 0

  const send = async (peer: KnownPeer, { by, body, trace }: Question, timeoutMs: number): Promise<PeerResponse> => {
    const span = traces?.start(spanOf(peer, trace))
    try {
      const response = await request(
        // Without our token: what only it may see is not for everybody who searches here.
        { ...peer, token: undefined },
        { path: PATHS[by], body, timeoutMs, signal: new AbortController().signal, headers: span?.headers ?? {} },
      )
      const { status } = response
      span?.set({ 'http.response.status_code': status })
      span?.end(status === 200 ? undefined : `${status}`)
      return response
    } catch (error) {
      span?.end(error instanceof PeerError ? 'peer_error' : 'internal_error')
      throw error
    }
  }

  const entriesOf = async (peer: KnownPeer, question: Question, timeoutMs: number): Promise<PeerEntry[]> => {
    const { by } = question
    const { status, json } = await send(peer, question, timeoutMs)
    if (status !== 200) throw new PeerError(`it answered with status ${status}`)
    const list = isObject(json) ? (json.candidates ?? json.results ?? []) : json
    const toEntry = by === 'profile' ? toProfileEntry : toAidipEntry
    return asObjects(list)
      .slice(0, MAX_RESULTS)
      .flatMap((item) => toEntry(peer, item))
  }

  const toRemote = (copy: FederatedCopy, tests: readonly ReturnType<typeof conditionTest>[]): RemoteAgent[] => {
    const { agent: id, format, document, origin } = copy
    const record = recordOf({ id, format, document, marks: { origin } })
    if (record.visibility === 'private' || !tests.every((test) => test(record, record.status, {}))) return []
    const time = (text: string | undefined): number => (text === undefined ? now() : Date.parse(text))
    const { indexed_at, received_at, expires_at } = origin.freshness
    const facts: RegistryFacts = {
      // Here it cannot be called by its id; at the origin it can.
      baseUrl: origin.service,
      number: 0,
      verification: { state: 'self-asserted' },
      lifetime: 0,
      receivedAt: time(received_at),
      modifiedAt: time(indexed_at),
      ...(expires_at !== undefined && { expiresAt: time(expires_at) }),
      provenance: toProvenance(origin, { members: {}, tag: '' }),
    }
    return [{ record, facts }]
  }

  const askOne = async (peer: KnownPeer, question: Question, deadlineMs: number): Promise<RemoteAgent[]> => {
    if (stateOf(peer).failures >= MAX_FAILURES) throw new PeerError('it could not be reached before')
    if (open >= MAX_REQUESTS) throw new PeerError('too many searches are waiting for peers')
    open++
    try {
      const tests = question.conditions.map(conditionTest)
      const agents: RemoteAgent[] = []
      const rejected = await rejectedOf(peer.name)
      for (const entry of await entriesOf(peer, question, deadlineMs)) {
        const accepted = await acceptCopy(peer, entry, undefined)
        if ('copy' in accepted && !rejected.has(accepted.copy.agent)) agents.push(...toRemote(accepted.copy, tests))
      }
      return agents
    } finally {
      open--
    }
  }

  return {
    async ask(question) {
      const deadlineMs = Math.min(question.deadlineMs ?? DEADLINE_MS.default, DEADLINE_MS.longest)
      const asked = peers.list().filter(({ trust }) => trust === 'full' || trust === 'limited')
      const answers = await Promise.all(
        asked.map(async (peer) => {
          try {
            return { peer, agents: await askOne(peer, question, deadlineMs) }
          } catch (error) {
            if (!(error instanceof PeerError)) onError(error)
            const reason = error instanceof PeerError ? error.message : 'an internal error'
            return `the results are not complete: the directory ${peer.name} did not answer: ${reason}`
          }
        }),
      )
      return {
        lists: answers.filter((answer) => typeof answer !== 'string'),
        warnings: answers.filter((answer) => typeof answer === 'string'),
      }
    },
  }
}

function spanOf({ name, url }: KnownPeer, parent: Span | undefined): SpanStart {
  const { hostname, port } = new URL(url)
  return {
    name: `search_peer ${name}`,
    kind: 'client',
    parent,
    attributes: {
      'http.request.method': 'POST',
      'switchboard.peer': name,
      'server.address': hostname,
      ...(port !== '' && { 'server.port': Number(port) }),
    },
  }
}

const PATHS = { profile: '/discover', aidip: '/agents/search' } as const

/** A search result as an entry; none if it is the copy of another directory's agent (C-45). */
function toAidipEntry(peer: KnownPeer, item: JsonObject): PeerEntry[] {
  if (typeof item.id !== 'string' || item.origin_service !== undefined || item.provenance !== undefined) return []
  const document = withoutRegistryMembers(item)
  const times = typeof item.expires_at === 'string' ? { expires_at: item.expires_at } : {}
  const redacted = item.redacted === true ? { redacted: true } : {}
  return [{ record: { id: item.id, format: 'aidip', document, ...times, ...redacted }, path: [peer.url] }]
}

/** Joins the results for a caller by rank; see `joinByRank`. */
export const joinAnswers = (
  { catalog, grantsOf }: Pick<Context, 'catalog' | 'grantsOf'>,
  caller: Caller,
  local: readonly Found[],
  answers: Answers,
): Joined[] =>
  joinByRank(local, answers, (id) => {
    const agent = catalog.get(id)
    return agent && { agent, record: viewOf(agent, caller, grantsOf) }
  })

/**
 * Joins local and remote results by rank. An agent that is known here is shown as it is here, and the result of a peer
 * counts for it only if that peer is its origin. Of several peers with the same id, the most trusted one counts.
 *
 * @param known the agent with this id at this directory, and its record if the caller may see it
 */
export function joinByRank(
  local: readonly Found[],
  { lists }: Answers,
  known: (id: string) => { readonly agent: Agent; readonly record: AgentRecord | undefined } | undefined,
): Joined[] {
  const joined = new Map<string, Found | RemoteAgent>(local.map((hit) => [hit.record.id, hit]))
  const take = (remote: RemoteAgent): string[] => {
    const { id } = remote.record
    const { agent, record } = known(id) ?? {}
    if (agent) {
      if (!record || agent.stored.marks.origin?.service !== remote.facts.provenance?.origin_service) return []
      if (!joined.has(id)) joined.set(id, { agent, record, score: undefined })
      return [id]
    }
    if (joined.has(id)) return []
    joined.set(id, remote)
    return [id]
  }
  const counted = lists
    .toSorted((a, b) => weightOf(b.peer) - weightOf(a.peer))
    .map(({ peer, agents }) => ({ weight: weightOf(peer), ids: agents.flatMap(take) }))
  const scores = fuseRanks([{ weight: 1, ids: local.map(({ record }) => record.id) }, ...counted])
  const results = [...joined].map(([id, found]): Joined => {
    const score = scores.get(id) ?? 0
    return 'agent' in found ? { score, local: found } : { score, remote: found }
  })
  return results.sort((a, b) => b.score - a.score)
}
