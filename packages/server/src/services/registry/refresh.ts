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
import { mayOperate, maySee } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import { assertDocumentSize } from '../../policy/document-limits.js'
import type { Lease } from '../../store/store.js'
import { auditOf, type Context } from '../context.js'
import type { Agent } from './catalog.js'
import { assertNotCopy } from './copies.js'
import { unknownRegistration } from './read.js'
import { changeAgent, renewalOf } from './register.js'

export interface Refresh {
  readonly number: number
  readonly caller: Caller
  /** Seconds; undefined: the lifetime granted before. */
  readonly lifetime: number | undefined
  /** Members of the registration to replace (C-37). */
  readonly changes: JsonObject | undefined
}

/** Renews a registration and, if the request has a body, replaces some of its members (AD §4.4). */
export async function refreshAgent(context: Context, refresh: Refresh): Promise<Agent> {
  const { number, caller, changes } = refresh
  const { record, stored } = await requireOwn(context, number, caller)
  if (!changes) return context.mutex.run(record.id, () => renew(context, refresh))
  return update(context, { number, caller, changes, lifetime: refresh.lifetime ?? stored.lease?.seconds }, record.id)
}

/** Runs under the agent's mutex, so that no concurrent change restores the old lease. */
async function renew(context: Context, { number, caller, lifetime }: Refresh): Promise<Agent> {
  const { record, stored } = await requireOwn(context, number, caller)
  const at = context.now()
  const seconds = lifetime ?? stored.lease?.seconds
  // An agent of another draft has no lease, and gets one only if a lifetime is requested (C-40).
  const lease: Lease | 'keep' = seconds === undefined ? 'keep' : { seconds, expiresAt: at + seconds * 1000 }
  const { id } = record
  const audit = auditOf(caller, 'refresh', at, { agent: id, format: 'directory', ...renewalOf({ stored }, lease) })
  const result = await context.store.write({ kind: 'refresh', id, number, lease, at, audit })
  if (result.outcome !== 'done' || !result.agent) {
    await context.catalog.reload(id)
    throw await unknownRegistration(context, number)
  }
  return context.catalog.apply(result.agent)
}

/** A partial update is a full registration of the stored members and the new ones (C-37). */
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
    compareStamps: 'sequence' in given || 'updated_at' in given,
    make: async () => {
      const existing = await requireOwn(context, number, caller)
      const { format, document } = withChanges(existing, given, context.catalog.facts(existing))
      assertDocumentSize(document)
      return { existing, format, document: parseDocument(format, document) }
    },
  })
}

/** Members with a meaning of their own in the Agent Directory; all others mean the same in every draft. */
const DIRECTORY_MEMBERS = ['base', 'protocols', 'capabilities', 'vendor']

/** A document of another format keeps it, unless the changes need the format of the Agent Directory. */
function withChanges(
  { published: record }: Agent,
  changes: JsonObject,
  facts: RegistryFacts,
): { format: DocumentFormat; document: JsonObject } {
  const { format, document } = record
  if (format === 'directory') return { format, document: { ...document, ...changes } }
  const { id: _id, ...given } = changes
  if (!DIRECTORY_MEMBERS.some((name) => name in given)) return { format, document: { ...document, ...given } }
  const registration = toRegistration(record, facts)
  return { format: 'directory', document: { ...registration, ...moveBindings(registration, given), ...given } }
}

/** Bindings of the profile whose endpoint is the base move with it. */
function moveBindings({ base: before, bindings }: JsonObject, { base: after }: JsonObject): JsonObject {
  if (after === undefined || !Array.isArray(bindings)) return {}
  const move = (binding: JsonValue): JsonValue =>
    isObject(binding) && binding.endpoint === before ? { ...binding, endpoint: after } : binding
  return { bindings: bindings.map(move) }
}

/** The agent of /ad/r/{n}; throws if the caller may not change it (C-33, C-41). */
export async function requireOwn(context: Context, number: number, caller: Caller): Promise<Agent> {
  const agent = context.catalog.byNumber(number)
  if (!agent || !maySee(agent, caller, context.grantsOf)) throw await unknownRegistration(context, number)
  if (!mayOperate(caller, { id: agent.record.id, owner: agent.owner })) {
    const { id } = agent.record
    const error = new DirectoryError('forbidden', `the registration of "${id}" belongs to another publisher`)
    context.trail.refused(error, caller, { action: 'update', agent: id })
    throw error
  }
  assertNotCopy(agent)
  return agent
}
