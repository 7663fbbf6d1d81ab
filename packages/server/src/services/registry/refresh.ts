import {
  DirectoryError,
  type DocumentFormat,
  isObject,
  type JsonObject,
  type JsonValue,
  parseDirectoryUpdate,
  parseDocument,
  type RegistryFacts,
  toRegistration,
} from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import { mayOperate } from '../../policy/ownership.js'
import { maySee } from '../../policy/visibility.js'
import type { Lease } from '../../store/store.js'
import { auditOf, type Context } from '../context.js'
import type { Agent } from './catalog.js'
import { changeAgent } from './register.js'

export interface Refresh {
  readonly number: number
  readonly caller: Caller
  /** Seconds; undefined: as granted before. */
  readonly lifetime: number | undefined
  /** Members of the registration to replace (C-37). */
  readonly changes: JsonObject | undefined
}

/** Renews a registration by its resource and, with a body, changes some of its members (AD §4.4). */
export async function refreshAgent(context: Context, refresh: Refresh): Promise<Agent> {
  const { number, caller, changes } = refresh
  const { record, stored } = await requireOwn(context, number, caller)
  if (!changes) return context.mutex.run(record.id, () => renew(context, refresh))
  return update(context, { number, caller, changes, lifetime: refresh.lifetime ?? stored.lease?.seconds }, record.id)
}

/** In turn with other changes of the agent, so that none of them writes back the lease it knew before. */
async function renew(context: Context, { number, caller, lifetime }: Refresh): Promise<Agent> {
  const { record, stored } = await requireOwn(context, number, caller)
  const at = context.now()
  const seconds = lifetime ?? stored.lease?.seconds
  // An agent of another draft has no lease unless a lifetime is asked for: it stays as it was promised (C-40).
  const lease: Lease | 'keep' = seconds === undefined ? 'keep' : { seconds, expiresAt: at + seconds * 1000 }
  const { id } = record
  const audit = auditOf(caller, 'refresh', at, { agent: id, format: 'directory' })
  const result = await context.store.write({ kind: 'refresh', id, number, lease, at, audit })
  if (result.outcome === 'conflict' || !result.agent) {
    await context.catalog.reload(id)
    throw await gone(context, number)
  }
  return context.catalog.apply(result.agent)
}

/** A partial update is a full registration made of what is stored and what is new (C-37). */
function update(
  context: Context,
  { number, caller, lifetime, changes }: Refresh & { changes: JsonObject },
  id: string,
): Promise<Agent> {
  const { agent: _agent, lt: _lt, href: _href, ...given } = parseDirectoryUpdate(changes)
  return changeAgent(context, {
    id,
    caller,
    lifetime,
    stamped: 'sequence' in given || 'updated_at' in given,
    make: async () => {
      const existing = await requireOwn(context, number, caller)
      const { format, document } = withChanges(existing, given, context.catalog.facts(existing))
      return { existing, format, document: parseDocument(format, document) }
    },
  })
}

/** Members that the directory has its own words for; all others mean the same in every draft. */
const OWN_WORDS = ['base', 'protocols', 'capabilities', 'vendor']

/** An agent of another draft keeps its words while they can say it; else it becomes a registration of the directory. */
function withChanges(
  { record }: Agent,
  changes: JsonObject,
  facts: RegistryFacts,
): { format: DocumentFormat; document: JsonObject } {
  const { format, document } = record
  if (format === 'directory') return { format, document: { ...document, ...changes } }
  const { id: _id, ...given } = changes
  if (!OWN_WORDS.some((name) => name in given)) return { format, document: { ...document, ...given } }
  const registration = toRegistration(record, facts)
  return { format: 'directory', document: { ...registration, ...moved(registration, given), ...given } }
}

/** The profile's bindings that lead to the base go where it goes. */
function moved({ base: before, bindings }: JsonObject, { base: after }: JsonObject): JsonObject {
  if (after === undefined || !Array.isArray(bindings)) return {}
  const move = (binding: JsonValue): JsonValue =>
    isObject(binding) && binding.endpoint === before ? { ...binding, endpoint: after } : binding
  return { bindings: bindings.map(move) }
}

/** The agent behind /ad/r/{n} if the caller may change it; otherwise says why not (C-33, C-41). */
export async function requireOwn(context: Context, number: number, caller: Caller): Promise<Agent> {
  const agent = context.catalog.byNumber(number)
  if (!agent || !maySee(agent, caller, context.grantsOf)) throw await gone(context, number)
  if (!mayOperate(caller, { id: agent.record.id, owner: agent.owner })) {
    throw new DirectoryError('forbidden', `the registration of "${agent.record.id}" belongs to another publisher`)
  }
  return agent
}

/** Not found; and, while it is remembered, that the registration was there once and lapsed. */
export async function gone(context: Context, number: number): Promise<DirectoryError> {
  const tombstone = context.catalog.byNumber(number) ? undefined : await context.store.tombstone({ number })
  if (tombstone?.reason !== 'expired')
    return new DirectoryError('not_found', `there is no registration /ad/r/${number}`)
  return new DirectoryError('registration_expired', `the registration /ad/r/${number} has expired: register again`)
}
