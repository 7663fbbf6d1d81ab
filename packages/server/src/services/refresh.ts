import {
  DirectoryError,
  type JsonObject,
  parseDirectoryUpdate,
  parseDocument,
  type RegistryFacts,
  toDirectory,
} from '@switchboard/protocol'
import type { Caller } from '../policy/caller.js'
import { mayOperate } from '../policy/ownership.js'
import { maySee } from '../policy/visibility.js'
import type { Lease } from '../store/store.js'
import type { Agent } from './catalog.js'
import { auditOf, type Context } from './context.js'
import { registerAgent } from './register.js'

export interface Refresh {
  readonly number: number
  readonly caller: Caller
  /** Seconds; undefined: as granted before. */
  readonly lifetime: number | undefined
  /** Members of the registration to replace (C-37). */
  readonly changes: JsonObject | undefined
}

/** Renews a registration by its resource and, with a body, changes some of its members (AD §4.4). */
export async function refreshAgent(context: Context, { number, caller, lifetime, changes }: Refresh): Promise<Agent> {
  const agent = await requireOwn(context, number, caller)
  const seconds = lifetime ?? agent.stored.lease?.seconds
  if (changes) return update(context, agent, caller, parseDirectoryUpdate(changes), seconds)
  const at = context.now()
  // An agent of another draft has no lease unless a lifetime is asked for: it stays as it was promised (C-40).
  const lease: Lease | undefined = seconds === undefined ? undefined : { seconds, expiresAt: at + seconds * 1000 }
  const { id } = agent.record
  const audit = auditOf(caller, 'refresh', at, { agent: id, face: 'directory' })
  const result = await context.store.write({ kind: 'refresh', id, number, lease, at, audit })
  if (result.outcome === 'conflict' || !result.agent) {
    await context.catalog.reload(id)
    throw await gone(context, number)
  }
  return context.catalog.apply(result.agent)
}

/** A partial update is a full registration made of what is stored and what is new. */
async function update(
  context: Context,
  agent: Agent,
  caller: Caller,
  changes: JsonObject,
  seconds: number | undefined,
): Promise<Agent> {
  const { agent: _ignored, ...given } = changes
  const document = parseDocument('directory', { ...registrationOf(agent, context.catalog.facts(agent)), ...given })
  const { agent: updated } = await registerAgent(context, {
    face: 'directory',
    document,
    id: agent.record.id,
    caller,
    intent: 'replace',
    ...(seconds !== undefined && { lifetime: seconds }),
  })
  return updated
}

/** The stored registration; one of another draft is read through the directory's view, which keeps all its members. */
function registrationOf({ record }: Agent, facts: RegistryFacts): JsonObject {
  if (record.face === 'directory') return record.document
  const { agent: _a, lt: _l, href: _h, verification: _v, redacted: _r, ...registration } = toDirectory(record, facts)
  return registration
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
