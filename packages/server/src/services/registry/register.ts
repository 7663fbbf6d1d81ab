import {
  type AgentRecord,
  DirectoryError,
  type DocumentFormat,
  type JsonObject,
  lintUpdate,
  readRecord,
} from '@switchboard/protocol'
import { assertCovered, mayCommission, maySee, ownerOfNew } from '../../policy/access.js'
import { type Caller, hasScope } from '../../policy/caller.js'
import { type Freshness, judgeUpdate } from '../../policy/freshness.js'
import { marksAfterTransfer } from '../../policy/transfer.js'
import type { AgentWrite, Lease, Marks } from '../../store/store.js'
import { auditOf, type Context } from '../context.js'
import { stateOfLease, stateOfRecord, updateOf } from '../operations/audit-state.js'
import type { Agent } from './catalog.js'
import { type Checked, checkDocument } from './check-document.js'
import { assertNotCopy, dropCopy, isCopy } from './copies.js'
import { matchesRevision, timeOfChange } from './entity-tags.js'
import { createKeyedMutex } from './keyed-mutex.js'
import { assertMayOwn } from './may-own.js'
import type { Reservation } from './quotas.js'
import { unknownAgent } from './read.js'
import { ownerAfterUpdate, ownershipError } from './update-owner.js'

/** A valid document of one format, and the request that carries it. */
export interface Registration {
  readonly format: DocumentFormat
  readonly document: JsonObject
  /** Undefined: the registry assigns an id. */
  readonly id: string | undefined
  readonly caller: Caller
  /** `claim` (POST to a collection) creates or replaces; `replace` (PUT to a resource) never creates (C-33, C-36). */
  readonly intent: 'claim' | 'replace'
  /** Seconds; for registrations that expire unless they are refreshed. */
  readonly lifetime?: number
  readonly ifMatch?: string | undefined
  /** Owner of a new agent, if an administrator registers it for somebody else. */
  readonly onBehalfOf?: string | undefined
  /** False: sequence and updated_at are copied from the stored document, so they are not compared (C-35). */
  readonly compareStamps?: boolean
  /** The URL at which the directory found the document; the caller is the domain that serves it. */
  readonly crawledFrom?: string
}

export interface Registered {
  readonly agent: Agent
  readonly created: boolean
  readonly warnings: readonly string[]
}

/** Bytes of a document, as `memoryOf` counts them, that takes many milliseconds to index. */
const LARGE_DOCUMENT = 262_144
/** One at a time: those that are committed together would all be indexed in one turn of the event loop. */
const largeWrites = createKeyedMutex()

/** Attempts at a write while other replicas change the same agent. */
const MAX_ATTEMPTS = 20

/**
 * Registers, replaces or refreshes an agent: checks the document, compares it with the stored one, writes and indexes it.
 * When the promise resolves, the agent is durable and can be found.
 */
export async function registerAgent(context: Context, registration: Registration): Promise<Registered> {
  const { caller } = registration
  const id = registration.id ?? context.newId()
  try {
    return await checkAndWrite(context, registration, id)
  } catch (error) {
    context.trail.refused(error, caller, { action: actionOf(registration), agent: id })
    throw error
  }
}

const actionOf = ({ intent }: Pick<Registration, 'intent'>): string => (intent === 'claim' ? 'register' : 'update')

async function checkAndWrite(context: Context, registration: Registration, id: string): Promise<Registered> {
  const { format, document, caller } = registration
  assertMayRegister(caller, id)
  const checked = await checkDocument(context, readRecord(format, document, id), caller)
  const done = await writeInOrder(context, id, async () => {
    const existing = context.catalog.get(id)
    if (existing && !(registration.intent === 'claim' && isCopy(existing)))
      return replaceExisting(context, registration, checked, existing)
    return createNew(context, registration, checked, existing)
  })
  const abuseWarnings = context.abuse
    .findingsOf(done.agent)
    .map(({ member, message }) => `${member || 'the document'} ${message}; the agent is ranked lower for this`)
  return { ...done, warnings: [...checked.warnings, ...done.warnings, ...abuseWarnings] }
}

/** Throws `forbidden` if the caller's credential does not allow it to register the name at all. */
export function assertMayRegister(caller: Caller, id: string): void {
  if (!hasScope(caller, 'publish') && !mayCommission(caller, id)) {
    throw new DirectoryError(
      'forbidden',
      'registering needs the publish scope, or the ct scope with a credential for this name',
    )
  }
  assertCovered(caller, id)
}

/** A change that is computed from the stored agent. */
export interface Change {
  readonly id: string
  readonly caller: Caller
  /** Seconds; undefined: the lease stays as it is. */
  readonly lifetime: number | undefined
  /** Whether the change sets sequence or updated_at, so that there is something to compare (C-35). */
  readonly compareStamps: boolean
  /** Returns the agent and its new document; throws if the agent does not exist or may not be changed. */
  readonly make: () => Promise<{ existing: Agent; format: DocumentFormat; document: JsonObject }>
}

/** Reads, changes and writes an agent under its mutex: of two concurrent changes none is lost. */
export async function changeAgent(context: Context, change: Change): Promise<Agent> {
  const { id, caller, lifetime, compareStamps, make } = change
  const { agent } = await writeInOrder(context, id, async () => {
    const { existing, format, document } = await make()
    const checked = await checkDocument(context, readRecord(format, document, id), caller)
    const registration: Registration = {
      format,
      document,
      id,
      caller,
      intent: 'replace',
      compareStamps,
      ...(lifetime !== undefined && { lifetime }),
    }
    return replaceExisting(context, registration, checked, existing)
  })
  return agent
}

/** Runs writes of one agent one after another. An attempt that another replica has overtaken reloads and runs again. */
function writeInOrder(
  context: Context,
  id: string,
  attempt: () => Promise<Registered | undefined>,
): Promise<Registered> {
  return context.mutex.run(id, async () => {
    for (let i = 0; i < MAX_ATTEMPTS; i++) {
      const done = await attempt()
      if (done) {
        // What is acknowledged is ranked with its findings.
        await context.abuse.checked(done.agent)
        return done
      }
      await context.catalog.reload(id)
    }
    throw new DirectoryError('unavailable', 'the agent is being changed by too many requests at once: try again', {
      retryAfter: 1,
    })
  })
}

async function createNew(
  context: Context,
  registration: Registration,
  checked: Checked,
  copy?: Agent,
): Promise<Registered | undefined> {
  const { record } = checked
  const { caller, intent, onBehalfOf } = registration
  if (intent === 'replace') throw unknownAgent(record.id)
  if (registration.ifMatch !== undefined)
    throw new DirectoryError('precondition_failed', `If-Match was sent, but there is no agent "${record.id}"`)
  const owner = ownerOfNew(caller, record.id, context.policy, onBehalfOf)
  assertMayOwn(context, record.id, owner, caller)
  const room = context.quotas.reserve(caller, owner, record.document)
  try {
    // A name that is known only from another directory is free here.
    if (copy && !(await dropCopy(context, copy, auditOf(caller, 'federation.replace', 0)))) return undefined
    const former = await context.store.tombstone({ id: record.id })
    return await write(context, registration, checked, {
      owner,
      // An owner who registers again keeps the operator's marks; a new owner of the name starts without any.
      marks: former?.owner === owner ? former.marks : {},
      expect: undefined,
      at: timeOfChange(context.now(), former?.at),
      lease: newLease(context, registration),
      room,
    })
  } finally {
    // Once a write is applied, the catalog's listener counts it.
    room.release()
  }
}

async function replaceExisting(
  context: Context,
  registration: Registration,
  checked: Checked,
  existing: Agent,
): Promise<Registered | undefined> {
  const { record } = checked
  const { caller, intent, ifMatch, compareStamps = true } = registration
  const owner = ownerAfterUpdate(context, existing, caller)
  if (owner === undefined) {
    const error = ownershipError(existing, intent, maySee(existing, caller, context.grantsOf))
    context.trail.refused(error, caller, { action: actionOf(registration), agent: record.id, always: true })
    throw error
  }
  assertNotCopy(existing)
  if (ifMatch !== undefined && !matchesRevision(ifMatch, existing)) {
    throw new DirectoryError(
      'precondition_failed',
      `the agent "${record.id}" has changed since you read it: read it again and repeat the change`,
    )
  }
  const isTakenOver = owner !== existing.owner
  const verdict = judgeReplacement(record, existing, {
    isTakenOver,
    compareStamps: compareStamps && ifMatch === undefined,
  })
  const lease = newLease(context, registration)
  const isNews = isTakenOver || isNewFinding(checked, existing) || isFoundAnew(registration, existing)
  if (verdict === 'noop' && !isNews) return refreshOnly(context, registration, existing, lease)
  const { marks, revision, modifiedAt } = existing.stored
  const at = timeOfChange(context.now(), modifiedAt)
  const room = context.quotas.reserve(caller, owner, record.document, isTakenOver ? undefined : existing)
  try {
    const values = isTakenOver
      ? { marks: marksAfterTransfer(marks), lease: lease === 'keep' ? ('none' as const) : lease }
      : { marks, lease }
    const done = await write(context, registration, checked, { owner, expect: revision, at, room, ...values }, existing)
    return done && { ...done, created: false, warnings: lintUpdate(existing.published, record) }
  } finally {
    room.release()
  }
}

/** Compares a document with the stored one by their stamps; throws if the stored one is newer or as new but different. */
export function judgeReplacement(
  record: AgentRecord,
  existing: Agent,
  { isTakenOver, compareStamps = true }: { isTakenOver: boolean; compareStamps?: boolean },
): Freshness {
  const verdict = judgeUpdate(existing.record, record, record.format === 'profile' ? 'profile' : 'other')
  const isComparable = compareStamps && !isTakenOver
  if (verdict === 'stale' && isComparable) {
    throw new DirectoryError(
      'stale_metadata',
      `a newer registration of "${record.id}" is stored: send a later updated_at, sequence or version`,
    )
  }
  if (verdict === 'conflict' && isComparable) {
    throw new DirectoryError(
      'conflict',
      `"${record.id}" is stored with the same updated_at, sequence or version but other content: send a later one`,
    )
  }
  return verdict
}

/** Whether the directory knew the document from elsewhere, or had lost it. */
const isFoundAnew = ({ crawledFrom }: Registration, { stored: { marks } }: Agent): boolean =>
  crawledFrom !== undefined && (marks.crawled?.url !== crawledFrom || marks.crawled.stale_since !== undefined)

/** Sending a document again verifies it again. That its keys cannot be read at the moment does not undo an earlier result. */
const isNewFinding = ({ signature }: Checked, { stored: { marks } }: Agent): boolean =>
  signature?.state !== marks.signature?.state && signature?.state !== 'unverifiable'

/** The same document again only renews the registration. */
async function refreshOnly(
  context: Context,
  { caller, format }: Registration,
  existing: Agent,
  lease: Lease | 'keep',
): Promise<Registered | undefined> {
  const at = context.now()
  const { id, number } = existing.stored
  const audit = auditOf(caller, 'refresh', at, { agent: id, format, ...renewalOf(existing, lease) })
  const result = await context.store.write({ kind: 'refresh', id, number, lease, at, audit })
  if (result.outcome !== 'done' || !result.agent) return undefined
  return { agent: context.catalog.apply(result.agent), created: false, warnings: [] }
}

/** What a refresh changes, for the audit log. */
export const renewalOf = (
  { stored }: Pick<Agent, 'stored'>,
  lease: Lease | 'keep',
): { before: JsonObject; after: JsonObject } => ({
  before: stateOfLease(stored.lease),
  after: stateOfLease(lease === 'keep' ? stored.lease : lease),
})

const newLease = ({ now }: Context, { lifetime }: Pick<Registration, 'lifetime'>): Lease | 'keep' =>
  lifetime === undefined ? 'keep' : { seconds: lifetime, expiresAt: now() + lifetime * 1000 }

interface WriteValues {
  readonly owner: string
  readonly marks: Marks
  readonly expect: number | undefined
  readonly at: number
  readonly lease: Lease | 'keep' | 'none'
  /** The room in the owner's quota that the document takes. */
  readonly room: Reservation
}

async function write(
  context: Context,
  { caller, format, crawledFrom }: Registration,
  { record, signature }: Checked,
  { room, ...values }: WriteValues,
  existing?: Agent,
): Promise<Registered | undefined> {
  const created = existing === undefined
  const states = existing ? updateOf(existing, record, values.owner) : { after: stateOfRecord(record, values.owner) }
  const audit = auditOf(caller, created ? 'register' : 'update', values.at, { agent: record.id, format, ...states })
  const { signature: _former, ...marks } = values.marks
  const change: AgentWrite = {
    kind: 'put',
    id: record.id,
    format,
    document: record.document,
    received: true,
    audit,
    ...room.counted,
    ...values,
    marks: { ...marks, ...(signature && { signature }), ...(crawledFrom && { crawled: { url: crawledFrom } }) },
  }
  const store = async (): Promise<Registered | undefined> => {
    const result = await context.store.write(change)
    room.assertWithin(result)
    if (result.outcome !== 'done' || !result.agent) return undefined
    return { agent: context.catalog.apply(result.agent, { record }), created, warnings: [] }
  }
  return room.counted.memory > LARGE_DOCUMENT ? largeWrites.run('', store) : store()
}
