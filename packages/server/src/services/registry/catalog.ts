import { hash } from 'node:crypto'
import {
  type AgentRecord,
  type JsonObject,
  KeptRecord,
  type LearnedOperations,
  ParsedRecords,
  type RegistryFacts,
  readRecord,
  redactRecord,
  textOf,
} from '@switchboard/protocol'
import { type AgentIndex, createAgentIndex, type TextEngine } from '@switchboard/search'
import { memoryOf } from '../../policy/quota.js'
import type { Store, StoredAgent } from '../../store/store.js'
import { registryOf, toFacts } from './agent-facts.js'
import { AgentRow } from './agent-row.js'
import { createPublicState, type PublicState } from './public-state.js'
import { createViewCache, type ViewCache } from './view-cache.js'

/**
 * A registered agent in memory: the stored row and the record read from its document. Documents are kept as text and parsed when
 * they are read, so code that goes through all agents should not read them: see `KeptRecord`.
 */
export interface Agent {
  readonly stored: StoredAgent
  /** What the publisher says, and what the directory has learned from the agent itself. */
  readonly record: AgentRecord
  /** What the publisher says: the record of the document alone. */
  readonly published: AgentRecord
  /** The record without members that only its owner may see. */
  readonly shown: AgentRecord
  readonly number: number
  readonly owner: string
  readonly status: string
  readonly registry: JsonObject
  readonly findings: Findings
  /** Milliseconds; the earlier of the end of the lease and the publisher's expires_at (C-40). */
  readonly expiresAt: number | undefined
  /** Estimated memory of the document in bytes, which counts towards the quota of its owner. */
  readonly memory: number
  /** Distinguishes this object from earlier and later states of the agent, and from other agents. */
  readonly serial: number
  /** Views that have been rendered, of all agents. */
  readonly views: ViewCache
}

/** What the directory found out about an agent by itself, as `verification` shows it, and a tag that changes with it. */
export interface Findings {
  readonly members: JsonObject
  readonly tag: string
}

/** When derived data is updated: `later` means in the background, for agents that are loaded in bulk. */
export type When = 'now' | 'later'

/** Keeps data derived from agents in step with the catalog. */
export interface CatalogListener {
  /** The agent is new or has changed; `before` is its former state. */
  changed?(agent: Agent, when: When, before: Agent | undefined): void
  /** The agent with this number was removed. */
  removed?(number: number, agent: Agent): void
  /** Findings about the agent. Call `review` when they change. */
  findings?(agent: StoredAgent): JsonObject
  /** The operations that the agent itself lists: the same object until they change. Call `review` when they do. */
  learned?(agent: StoredAgent, published: AgentRecord): LearnedOperations | undefined
  /** What strangers see of the agent with this number has changed. */
  publicChanged?(number: number): void
}

export interface ApplyOptions {
  /** Default: now. */
  readonly when?: When
  /** The record of the stored document alone, if the caller has it; otherwise it is read from the document. */
  readonly record?: AgentRecord
  /** The known agent that the row replaces even if the row is older, as after a restore of the store from a backup. */
  readonly over?: Agent | undefined
}

/**
 * Every live agent in memory, derived from the store. A write is applied here once it is durable and before it is
 * acknowledged, so that publishers find what they have just registered.
 */
export interface Catalog {
  readonly index: AgentIndex<Agent>
  get(id: string): Agent | undefined
  byNumber(number: number): Agent | undefined
  /** Applies a row of the store, unless a newer revision is already known; see `over` for an older store. */
  apply(stored: StoredAgent, options?: ApplyOptions): Agent
  drop(id: string, revision: number): void
  /** Reads the agent from the store again, after another process has written it. */
  reload(id: string): Promise<Agent | undefined>
  /** Asks the listeners for their findings about the agent, and for what they have learned from it, again. */
  review(number: number): void
  /** Calls the listener for every later change; subscribe before agents are loaded. */
  subscribe(listener: CatalogListener): void
  facts(agent: Agent): RegistryFacts
  /** Base of absolute URLs. */
  baseUrl(): string
  /** Changes of what strangers see. */
  readonly publicState: PublicState
  /** Highest revision applied so far. */
  readonly revision: number
  /** Lowers the revision, if the store has not assigned any higher one than this. */
  rewind(revision: number): void
}

export interface CatalogOptions {
  store: Pick<Store, 'get'>
  /** Base of absolute URLs; known only once the server listens. */
  baseUrl: () => string
  maxLifetime: number
  /** Searches by text. Default: one in this thread. */
  engine?: TextEngine
  now: () => number
  /** Abuse warnings to publish in the agent's `verification`. */
  warningsOf: (agent: Agent) => readonly JsonObject[]
}

/** Characters of the documents of records that are kept parsed: some 5,000 agents of average size, about 20 MB. */
const MAX_PARSED_LENGTH = 6 * 1024 * 1024

export function createCatalog(options: CatalogOptions): Catalog {
  const { store, baseUrl, maxLifetime, engine, now, warningsOf } = options
  const index = createAgentIndex<Agent>({ engine, versionOf })
  const listeners: CatalogListener[] = []
  const publicState = createPublicState(now)
  const views = createViewCache()
  const parsed = new ParsedRecords(MAX_PARSED_LENGTH)
  let serial = 0
  let revision = 0

  const create = (stored: StoredAgent, records: Records, findings: Findings, memory: number): Agent =>
    new CatalogAgent(stored, records, findings, memory, ++serial, views)

  /** @param known the agent before: its record is kept if it is still the same */
  const recordsOf = (stored: StoredAgent, published: KeptRecord, known: Agent | undefined): Records => {
    let learned: LearnedOperations | undefined
    for (const listener of listeners) learned ??= listener.learned?.(stored, published)
    if (known?.published === published && known.record.learned === learned) return known
    return { published, record: learned ? parsed.keepLearned(published, learned) : published }
  }

  /** @param record of the stored document, if it has been read; the same if it is kept already */
  const publishedOf = (stored: StoredAgent, record: AgentRecord | undefined): KeptRecord =>
    record instanceof KeptRecord
      ? record
      : parsed.keep(stored.text ?? textOf(stored.document), record ?? recordOf(stored))

  const apply = (stored: StoredAgent, { when = 'now', record, over }: ApplyOptions = {}): Agent => {
    const known = index.get(stored.id)
    // Written since `over` was read: then the known state is at least as new.
    const isReplaced = over !== undefined && known?.stored === over.stored
    if (known && ((!isReplaced && isNewer(known.stored, stored)) || isSame(known.stored, stored))) {
      // Again, because it may have been rewound.
      revision = Math.max(revision, known.stored.revision)
      return known
    }
    // A refresh does not change the document, so the known record still holds.
    const isRefresh = known !== undefined && isSameContent(known.stored, stored)
    const published = publishedOf(stored, isRefresh ? known.published : record)
    const memory = known?.published === published ? known.memory : memoryOf(stored.document)
    const row = new AgentRow(stored, published)
    const records = recordsOf(row, published, known)
    const agent = create(row, records, findingsOf(row, records.record), memory)
    index.put(agent, when)
    const before = known?.number === agent.number ? known : undefined
    if (known && !before) notifyRemoved(known)
    notePublicChange(known, agent)
    revision = Math.max(revision, stored.revision)
    for (const listener of listeners) listener.changed?.(agent, when, before)
    return agent
  }

  const findingsOf = (stored: StoredAgent, { learned }: AgentRecord): Findings => {
    const members: JsonObject = Object.assign({}, ...listeners.map((listener) => listener.findings?.(stored)))
    if (learned) members.operations = { source: learned.source, learned_at: new Date(learned.at).toISOString() }
    const isEmpty = Object.keys(members).length === 0
    return isEmpty ? NO_FINDINGS : { members, tag: hash('sha256', JSON.stringify(members), 'base64url').slice(0, 12) }
  }

  const drop = (id: string, revision: number): void => {
    const known = index.get(id)
    if (known && known.stored.revision <= revision) remove(known)
  }

  const remove = (agent: Agent): void => {
    index.remove(agent.record.id)
    notifyRemoved(agent)
    notePublicChange(agent, undefined)
  }

  const notifyRemoved = (agent: Agent): void => {
    for (const listener of listeners) listener.removed?.(agent.number, agent)
  }

  const notePublicChange = (before: Agent | undefined, after: Agent | undefined): void => {
    if (!publicState.note(before, after)) return
    const numbers = new Set([before, after].flatMap((agent) => agent?.number ?? []))
    for (const number of numbers) for (const listener of listeners) listener.publicChanged?.(number)
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
      if (stored) return apply(stored, { over: before })
      // Keep an agent that was registered here while the store was being read.
      if (before && index.get(id) === before) remove(before)
      return index.get(id)
    },
    review(number) {
      const known = index.byNumber(number)
      if (!known) return
      const records = recordsOf(known.stored, publishedOf(known.stored, known.published), known)
      const findings = findingsOf(known.stored, records.record)
      const isSameRecord = records.record === known.record
      if (isSameRecord && findings.tag === known.findings.tag) return
      // A new object, so that nothing rendered before is used.
      const agent = create(known.stored, records, findings, known.memory)
      index.put(agent)
      notePublicChange(known, agent)
      if (!isSameRecord) for (const listener of listeners) listener.changed?.(agent, 'now', known)
    },
    subscribe: (listener) => void listeners.push(listener),
    baseUrl,
    facts: (agent) => toFacts(agent, baseUrl(), maxLifetime, warningsOf(agent)),
    get publicState() {
      return publicState.state
    },
    get revision() {
      return revision
    },
    rewind(highest) {
      revision = Math.min(revision, highest)
    },
  }
}

/** Everything that the record is read from. */
function versionOf({ stored: { number, revision, modifiedAt }, record }: Agent): number {
  const parts = [number, revision, modifiedAt, record.learned?.at]
  return Number.parseInt(hash('sha1', parts.join(' ')).slice(0, VERSION_DIGITS), 16)
}

/** A new registration of a name has a higher number; revisions are comparable only within one number. */
function isNewer(a: StoredAgent, b: StoredAgent): boolean {
  if (a.number !== b.number) return a.number > b.number
  return a.revision > b.revision || (a.revision === b.revision && a.receivedAt > b.receivedAt)
}

/** The record of a stored document. A copy from a peer may lack private parts, which its origin left out. */
export const recordOf = ({ format, document, id, marks }: Pick<StoredAgent, 'format' | 'document' | 'id' | 'marks'>) =>
  readRecord(format, document, id, marks.origin?.redacted)

/** The same row again, read back from the change log: lists must not count as changed. */
const isSame = (a: StoredAgent, b: StoredAgent): boolean =>
  isSameContent(a, b) && a.receivedAt === b.receivedAt && a.lease?.expiresAt === b.lease?.expiresAt

/** Everything but the lease; a store that lost its last writes assigns their revisions again. */
const isSameContent = (a: StoredAgent, b: StoredAgent): boolean =>
  a.number === b.number && a.revision === b.revision && a.modifiedAt === b.modifiedAt

/** Hexadecimal digits that fit into a number. */
const VERSION_DIGITS = 13

const NO_FINDINGS: Findings = { members: {}, tag: '' }

type Records = Pick<Agent, 'record' | 'published'>

class CatalogAgent implements Agent {
  readonly stored: StoredAgent
  readonly record: AgentRecord
  readonly published: AgentRecord
  readonly findings: Findings
  readonly expiresAt: number | undefined
  readonly memory: number
  readonly serial: number
  readonly views: ViewCache

  constructor(
    stored: StoredAgent,
    { record, published }: Records,
    findings: Findings,
    memory: number,
    serial: number,
    views: ViewCache,
  ) {
    const ends = [stored.lease?.expiresAt, record.expiresAt].filter((end) => end !== undefined)
    this.stored = stored
    this.record = record
    this.published = published
    this.findings = findings
    this.expiresAt = ends.length > 0 ? Math.min(...ends) : undefined
    this.memory = memory
    this.serial = serial
    this.views = views
  }

  get shown(): AgentRecord {
    return redactRecord(this.record)
  }

  get number(): number {
    return this.stored.number
  }

  get owner(): string {
    return this.stored.owner
  }

  get status(): string {
    return this.stored.marks.status ?? this.record.status
  }

  /** Computed each time: only few filters and counts need it. */
  get registry(): JsonObject {
    return registryOf(this.stored, this.shown, this.findings)
  }
}
