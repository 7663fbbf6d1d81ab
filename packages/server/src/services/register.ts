import {
  type AgentRecord,
  DirectoryError,
  type Face,
  invalid,
  type JsonObject,
  lintExamples,
  lintRecord,
  lintUpdate,
  readRecord,
} from '@switchboard/protocol'
import { type Caller, hasScope } from '../policy/caller.js'
import { judgeUpdate } from '../policy/freshness.js'
import { assertMayClaim, mayOperate, ownerOfNew } from '../policy/ownership.js'
import { assertClaims, assertEndpoints } from '../policy/vetting.js'
import { maySee } from '../policy/visibility.js'
import type { AgentWrite, Lease, Marks } from '../store/store.js'
import type { Agent } from './catalog.js'
import { auditOf, type Context } from './context.js'
import { matchesRevision } from './entity-tags.js'

/** A document that has passed its face's schema, and how it came. */
export interface Registration {
  readonly face: Face
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
  const { face, document, caller } = registration
  if (!hasScope(caller, 'publish') && !hasScope(caller, 'ct')) {
    throw new DirectoryError('forbidden', 'registering takes the scope publish')
  }
  const id = registration.id ?? context.newId()
  const record = readRecord(face, document, id)
  const warnings = vet(context, record, caller)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const done = await tryRegister(context, registration, record)
    if (done) return { ...done, warnings: [...warnings, ...done.warnings] }
    await context.catalog.reload(id)
  }
  throw new DirectoryError('unavailable', 'the agent is changing too fast: try again', { retryAfter: 1 })
}

/** Everything about the document itself that can be refused or warned about. */
function vet(context: Context, record: AgentRecord, caller: Caller): string[] {
  assertEndpoints(record, context.policy, context.production)
  assertClaims(record, caller, context.policy)
  const misfits = lintExamples(record, context.schemas)
  if (context.policy.strictExamples && misfits.length > 0) {
    throw invalid(misfits.map((text) => ({ at: text.split(' ')[0] ?? '', message: text.slice(text.indexOf(' ') + 1) })))
  }
  return [...lintRecord(record), ...misfits]
}

async function tryRegister(
  context: Context,
  registration: Registration,
  record: AgentRecord,
): Promise<Registered | undefined> {
  const existing = context.catalog.get(record.id)
  return existing ? replaceExisting(context, registration, record, existing) : createNew(context, registration, record)
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
  const { caller, intent, ifMatch } = registration
  if (!mayOperate(caller, { id: record.id, owner: existing.owner })) {
    throw refusal(existing, intent, maySee(existing, caller, context.grantsOf))
  }
  if (ifMatch !== undefined && !matchesRevision(ifMatch, existing)) {
    throw new DirectoryError('precondition_failed', `the agent "${record.id}" has changed since: read it again`)
  }
  const verdict = judgeUpdate(existing.record, record, record.face === 'profile' ? 'profile' : 'other')
  if (verdict === 'stale' && ifMatch === undefined) {
    throw new DirectoryError(
      'stale_metadata',
      `a newer registration of "${record.id}" is stored; send a later updated_at, sequence or version`,
    )
  }
  if (verdict === 'conflict' && ifMatch === undefined) {
    throw new DirectoryError(
      'conflict',
      `"${record.id}" is stored with the same stamp and other content; send a later updated_at, sequence or version`,
    )
  }
  const lease = newLease(context, registration) ?? existing.stored.lease
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
  { caller, face }: Registration,
  existing: Agent,
  lease: Lease | undefined,
): Promise<Registered | undefined> {
  const at = context.now()
  const { id, number } = existing.stored
  const audit = auditOf(caller, 'refresh', at, { agent: id, face })
  const result = await context.store.write({ kind: 'refresh', id, number, lease, at, audit })
  if (result.outcome === 'conflict' || !result.agent) return undefined
  return { agent: context.catalog.apply(result.agent), created: false, warnings: [] }
}

const newLease = ({ now }: Context, { lifetime }: Registration): Lease | undefined =>
  lifetime === undefined ? undefined : { seconds: lifetime, expiresAt: now() + lifetime * 1000 }

async function write(
  context: Context,
  { caller, face }: Registration,
  record: AgentRecord,
  decided: { owner: string; marks: Marks; expect: number | undefined; lease: Lease | undefined },
): Promise<Registered | undefined> {
  const at = context.now()
  const created = decided.expect === undefined
  const audit = auditOf(caller, created ? 'register' : 'update', at, { agent: record.id, face })
  const change: AgentWrite = {
    kind: 'put',
    id: record.id,
    face,
    document: record.document,
    at,
    received: true,
    audit,
    ...decided,
  }
  const result = await context.store.write(change)
  if (result.outcome === 'conflict' || !result.agent) return undefined
  return { agent: context.catalog.apply(result.agent), created, warnings: [] }
}
