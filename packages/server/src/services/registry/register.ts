import {
  type AgentRecord,
  DirectoryError,
  type DocumentFormat,
  invalid,
  type JsonObject,
  lintExamples,
  lintRecord,
  lintUpdate,
  readRecord,
} from '@switchboard/protocol'
import { type Caller, hasScope } from '../../policy/caller.js'
import { judgeUpdate } from '../../policy/freshness.js'
import { assertCovered, assertMayClaim, mayOperate, ownerOfNew } from '../../policy/ownership.js'
import { assertClaims, assertEndpoints } from '../../policy/vetting.js'
import { mayCommission, maySee } from '../../policy/visibility.js'
import type { AgentWrite, Lease, Marks } from '../../store/store.js'
import { auditOf, type Context } from '../context.js'
import type { Agent } from './catalog.js'
import { matchesRevision } from './entity-tags.js'

/** A document that has passed its face's schema, and how it came. */
export interface Registration {
  readonly format: DocumentFormat
  readonly document: JsonObject
  /** Undefined: the registry assigns one. */
  readonly id: string | undefined
  readonly caller: Caller
  /** `claim` through a collection makes or replaces; `replace` through a resource never makes (C-33, C-36). */
  readonly intent: 'claim' | 'replace'
  /** Seconds; given where registrations are soft state. */
  readonly lifetime?: number
  readonly ifMatch?: string | undefined
  /** Administrators may register for somebody else. */
  readonly onBehalfOf?: string | undefined
  /** False: its stamps are the stored ones and say nothing (C-35). */
  readonly stamped?: boolean
}

export interface Registered {
  readonly agent: Agent
  readonly created: boolean
  readonly warnings: readonly string[]
}

/** A write decided on what another replica has just changed is decided again, this often. */
const MAX_ATTEMPTS = 20

/** Registers, replaces or refreshes an agent: vet, judge freshness, write, index. Durable and found when it resolves. */
export async function registerAgent(context: Context, registration: Registration): Promise<Registered> {
  const { format, document, caller } = registration
  const id = registration.id ?? context.newId()
  if (!hasScope(caller, 'publish') && !mayCommission(caller, id)) {
    throw new DirectoryError('forbidden', 'registering takes the scope publish, or ct for this name')
  }
  assertCovered(caller, id)
  const record = readRecord(format, document, id)
  const warnings = vet(context, record, caller)
  const done = await decide(context, id, async () => {
    const existing = context.catalog.get(id)
    return existing
      ? replaceExisting(context, registration, record, existing)
      : createNew(context, registration, record)
  })
  const suspicions = context.abuse
    .findingsOf(done.agent)
    .map(({ member, message }) => `${member || 'the document'} ${message}; this lowers its rank`)
  return { ...done, warnings: [...warnings, ...done.warnings, ...suspicions] }
}

/** A change of an agent that is made of what is stored. */
export interface Change {
  readonly id: string
  readonly caller: Caller
  /** Seconds; undefined: the lease stays as it is. */
  readonly lifetime: number | undefined
  /** False: the change brings no stamp of its own, so there is none to compare (C-35). */
  readonly stamped: boolean
  /** The agent to change and its new document; throws if there is nothing to change. */
  readonly make: () => Promise<{ existing: Agent; format: DocumentFormat; document: JsonObject }>
}

/** Changes an agent in one turn: of two changes that are made at once none is lost. */
export async function changeAgent(context: Context, change: Change): Promise<Agent> {
  const { id, caller, lifetime, stamped, make } = change
  const { agent } = await decide(context, id, async () => {
    const { existing, format, document } = await make()
    const record = readRecord(format, document, id)
    vet(context, record, caller)
    const registration: Registration = {
      format,
      document,
      id,
      caller,
      intent: 'replace',
      stamped,
      ...(lifetime !== undefined && { lifetime }),
    }
    return replaceExisting(context, registration, record, existing)
  })
  return agent
}

/** Decides on what is known and writes; where another replica was faster, learns of it and decides again. */
function decide(context: Context, id: string, attempt: () => Promise<Registered | undefined>): Promise<Registered> {
  return context.mutex.run(id, async () => {
    for (let i = 0; i < MAX_ATTEMPTS; i++) {
      const done = await attempt()
      if (done) return done
      await context.catalog.reload(id)
    }
    throw new DirectoryError('unavailable', 'the agent is changing too fast: try again', { retryAfter: 1 })
  })
}

/** Everything about the document itself that can be refused or warned about. */
function vet(context: Context, record: AgentRecord, caller: Caller): string[] {
  assertEndpoints(record, context.policy, context.production)
  assertClaims(record, caller, context.policy)
  if (record.expiresAt !== undefined && record.expiresAt <= context.now()) {
    throw invalid([{ at: '/expires_at', message: 'is over already: send a later time, or leave it out' }])
  }
  const misfits = lintExamples(record, context.schemas)
  if (context.policy.strictExamples && misfits.length > 0) {
    throw invalid(misfits.map((text) => ({ at: text.split(' ')[0] ?? '', message: text.slice(text.indexOf(' ') + 1) })))
  }
  return [...lintRecord(record, { isDeclaredTag: context.taxonomy.declares }), ...misfits]
}

async function createNew(
  context: Context,
  registration: Registration,
  record: AgentRecord,
): Promise<Registered | undefined> {
  const { caller, intent, onBehalfOf } = registration
  if (intent === 'replace') throw unknownAgent(record.id)
  if (registration.ifMatch !== undefined) throw new DirectoryError('precondition_failed', 'there is no such agent yet')
  assertMayClaim(caller, record.id, context.policy)
  const owner = ownerOfNew(caller, record.id, context.policy, onBehalfOf)
  const marks = await formerMarks(context, record.id, owner)
  return write(context, registration, record, {
    owner,
    marks,
    expect: undefined,
    lease: newLease(context, registration),
  })
}

/** An owner who comes back keeps the operator's marks; another owner of the same name starts with none. */
async function formerMarks(context: Context, id: string, owner: string): Promise<Marks> {
  const former = await context.store.tombstone({ id })
  return former?.owner === owner ? former.marks : {}
}

async function replaceExisting(
  context: Context,
  registration: Registration,
  record: AgentRecord,
  existing: Agent,
): Promise<Registered | undefined> {
  const { caller, intent, ifMatch, stamped = true } = registration
  if (!mayOperate(caller, { id: record.id, owner: existing.owner })) {
    throw refusal(existing, intent, maySee(existing, caller, context.grantsOf))
  }
  if (ifMatch !== undefined && !matchesRevision(ifMatch, existing)) {
    throw new DirectoryError('precondition_failed', `the agent "${record.id}" has changed since: read it again`)
  }
  const verdict = judgeUpdate(existing.record, record, record.format === 'profile' ? 'profile' : 'other')
  const byStamps = stamped && ifMatch === undefined
  if (verdict === 'stale' && byStamps) {
    throw new DirectoryError(
      'stale_metadata',
      `a newer registration of "${record.id}" is stored; send a later updated_at, sequence or version`,
    )
  }
  if (verdict === 'conflict' && byStamps) {
    throw new DirectoryError(
      'conflict',
      `"${record.id}" is stored with the same stamp and other content; send a later updated_at, sequence or version`,
    )
  }
  const lease = newLease(context, registration)
  if (verdict === 'noop') return refreshOnly(context, registration, existing, lease)
  const done = await write(context, registration, record, {
    owner: existing.owner,
    marks: existing.stored.marks,
    expect: existing.stored.revision,
    lease,
  })
  return done && { ...done, created: false, warnings: lintUpdate(existing.record, record) }
}

/** Claiming a foreign name is a conflict; operating on a foreign agent is forbidden, or unknown if it is hidden (C-33). */
function refusal(existing: Agent, intent: Registration['intent'], visible: boolean): DirectoryError {
  const { id } = existing.record
  if (intent === 'claim') return new DirectoryError('conflict', `the name "${id}" belongs to another publisher`)
  return visible ? new DirectoryError('forbidden', `the agent "${id}" belongs to another publisher`) : unknownAgent(id)
}

export const unknownAgent = (id: string): DirectoryError => new DirectoryError('not_found', `there is no agent "${id}"`)

/** The same document again says that the agent is alive, and nothing else. */
async function refreshOnly(
  context: Context,
  { caller, format }: Registration,
  existing: Agent,
  lease: Lease | 'keep',
): Promise<Registered | undefined> {
  const at = context.now()
  const { id, number } = existing.stored
  const audit = auditOf(caller, 'refresh', at, { agent: id, format })
  const result = await context.store.write({ kind: 'refresh', id, number, lease, at, audit })
  if (result.outcome === 'conflict' || !result.agent) return undefined
  return { agent: context.catalog.apply(result.agent), created: false, warnings: [] }
}

const newLease = ({ now }: Context, { lifetime }: Pick<Registration, 'lifetime'>): Lease | 'keep' =>
  lifetime === undefined ? 'keep' : { seconds: lifetime, expiresAt: now() + lifetime * 1000 }

async function write(
  context: Context,
  { caller, format }: Registration,
  record: AgentRecord,
  decided: { owner: string; marks: Marks; expect: number | undefined; lease: Lease | 'keep' },
): Promise<Registered | undefined> {
  const at = context.now()
  const created = decided.expect === undefined
  const audit = auditOf(caller, created ? 'register' : 'update', at, { agent: record.id, format })
  const change: AgentWrite = {
    kind: 'put',
    id: record.id,
    format,
    document: record.document,
    at,
    received: true,
    audit,
    ...decided,
  }
  const result = await context.store.write(change)
  if (result.outcome === 'conflict' || !result.agent) return undefined
  return { agent: context.catalog.apply(result.agent, { record }), created, warnings: [] }
}
