import { type AgentRecord, type JsonObject, type RegistryFacts, readRecord, redactRecord } from '@switchboard/protocol'
import { type AgentIndex, createAgentIndex } from '@switchboard/search'
import type { Store, StoredAgent } from '../../store/store.js'

/** A registered agent in memory: what is stored, the record read from it, and what of it has been rendered. */
export interface Agent {
  readonly stored: StoredAgent
  readonly record: AgentRecord
  /** The record without what only its owner sees. */
  readonly shown: AgentRecord
  readonly number: number
  readonly owner: string
  readonly status: string
  readonly registry: JsonObject
  /** Milliseconds; the earlier of the lease's end and the publisher's expires_at (C-40). */
  readonly expiresAt: number | undefined
  /** Documents as text by face, made when first asked for: an agent is read far more often than it changes. */
  readonly rendered: Map<string, string>
}

/**
 * Every live agent in memory, derived from the store. A change is applied here after it is durable and before it is
 * acknowledged, so that whoever registered an agent finds it.
 */
export interface Catalog {
  readonly index: AgentIndex<Agent>
  get(id: string): Agent | undefined
  byNumber(number: number): Agent | undefined
  /** Takes in what the store says; an older revision than the one known is ignored. */
  apply(stored: StoredAgent, words?: 'now' | 'later'): Agent
  drop(id: string, revision: number): void
  /** Reads the agent anew from the store, after another writer was faster. */
  reload(id: string): Promise<Agent | undefined>
  facts(agent: Agent): RegistryFacts
  /** Milliseconds; when anything last changed. */
  readonly modifiedAt: number
  /** The latest change of an agent that is known here. */
  readonly revision: number
}

export interface CatalogOptions {
  store: Store
  /** Base of absolute URLs; known only once the server listens. */
  baseUrl: () => string
  maxLifetime: number
  /** How many candidates of words, and of meaning, enter the ranking of a search. */
  rerankLimit: number
  now: () => number
  /** Told of each agent that ends, and when. */
  onExpiry: (agent: Agent) => void
  /** Told of each agent that is new or has changed; `later`: it is one of many. */
  onChange: (agent: Agent, when: 'now' | 'later') => void
  /** Told of each number whose agent is gone. */
  onGone: (number: number) => void
  /** What is to be said against an agent, under `verification`. */
  warningsOf: (agent: Agent) => readonly JsonObject[]
}

export function createCatalog(options: CatalogOptions): Catalog {
  const { store, baseUrl, maxLifetime, rerankLimit, now, onExpiry, onChange, onGone, warningsOf } = options
  const index = createAgentIndex<Agent>({ candidates: rerankLimit })
  let modifiedAt = now()
  let revision = 0

  const apply = (stored: StoredAgent, words: 'now' | 'later' = 'now'): Agent => {
    const known = index.get(stored.id)
    if (known && (isNewer(known.stored, stored) || isSame(known.stored, stored))) return known
    // A refresh changes no word of the document, so the record need not be read again.
    const same = known?.stored.revision === stored.revision && known.number === stored.number
    const record = same ? known.record : readRecord(stored.format, stored.document, stored.id)
    const agent = toAgent(stored, record)
    index.put(agent, words)
    if (known && known.number !== agent.number) onGone(known.number)
    modifiedAt = now()
    revision = Math.max(revision, stored.revision)
    if (agent.expiresAt !== undefined) onExpiry(agent)
    onChange(agent, words)
    return agent
  }

  const drop = (id: string, revision: number): void => {
    const known = index.get(id)
    if (!known || known.stored.revision > revision) return
    forget(known)
  }

  const forget = ({ number, record }: Agent): void => {
    index.remove(record.id)
    onGone(number)
    modifiedAt = now()
  }

  return {
    index,
    get: index.get,
    byNumber: index.byNumber,
    apply,
    drop,
    async reload(id) {
      const before = index.get(id)
      const stored = await store.get(id)
      if (stored) return apply(stored)
      // What was registered here while the store was asked is not what it found missing.
      if (before && index.get(id) === before) forget(before)
      return index.get(id)
    },
    facts: (agent) => toFacts(agent, baseUrl(), maxLifetime, warningsOf(agent)),
    get modifiedAt() {
      return modifiedAt
    },
    get revision() {
      return revision
    },
  }
}

/** A name that was registered anew has a higher number; revisions grow for one number only. */
function isNewer(a: StoredAgent, b: StoredAgent): boolean {
  if (a.number !== b.number) return a.number > b.number
  return a.revision > b.revision || (a.revision === b.revision && a.receivedAt > b.receivedAt)
}

/** The same state once more, as the change log tells of what this process wrote: nobody's list has changed. */
const isSame = (a: StoredAgent, b: StoredAgent): boolean =>
  a.number === b.number &&
  a.revision === b.revision &&
  a.receivedAt === b.receivedAt &&
  a.lease?.expiresAt === b.lease?.expiresAt

function toAgent(stored: StoredAgent, record: AgentRecord): Agent {
  const ends = [stored.lease?.expiresAt, record.expiresAt].filter((end) => end !== undefined)
  return {
    stored,
    record,
    shown: redactRecord(record),
    number: stored.number,
    owner: stored.owner,
    status: stored.marks.status ?? record.status,
    registry: registryOf(stored),
    expiresAt: ends.length > 0 ? Math.min(...ends) : undefined,
    rendered: new Map(),
  }
}

function toFacts(
  { stored, expiresAt }: Agent,
  baseUrl: string,
  maxLifetime: number,
  warnings: readonly JsonObject[],
): RegistryFacts {
  const { certification, quality_score: qualityScore, unsafe, status } = stored.marks
  return {
    baseUrl,
    number: stored.number,
    verification: { ...verificationOf(stored), ...(warnings.length > 0 && { warnings: [...warnings] }) },
    lifetime: stored.lease?.seconds ?? maxLifetime,
    receivedAt: stored.receivedAt,
    modifiedAt: stored.modifiedAt,
    ...(certification && { certification }),
    ...(qualityScore !== undefined && { qualityScore }),
    ...(unsafe !== undefined && { unsafe }),
    ...(status !== undefined && { status }),
    ...(expiresAt !== undefined && { expiresAt }),
  }
}

/** What filters find of the operator's marks: as they are shown, whatever the document says. */
function registryOf(stored: StoredAgent): JsonObject {
  const { verification: _verification, status: _status, ...marks } = stored.marks
  return { verification: { ...verificationOf(stored), ...marks } }
}

/** What a publisher claims of itself is no verification, whatever its document says (C-23). */
function verificationOf({ marks }: StoredAgent): JsonObject {
  return marks.verification ? { ...marks.verification } : { state: 'self-asserted' }
}
