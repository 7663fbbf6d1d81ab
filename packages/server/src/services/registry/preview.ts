import {
  type AgentRecord,
  DirectoryError,
  type JsonObject,
  lintUpdate,
  parseDocument,
  type RegistryFacts,
  readRecord,
} from '@switchboard/protocol'
import { maySee, ownerOfNew } from '../../policy/access.js'
import { type Caller, hasScope } from '../../policy/caller.js'
import type { Context } from '../context.js'
import { checkContent } from './check-document.js'
import { isCopy } from './copies.js'
import { toImported } from './import-agent.js'
import { assertMayOwn } from './may-own.js'
import { assertMayRegister, judgeReplacement } from './register.js'
import { ownerAfterUpdate, ownershipError } from './update-owner.js'

/** What registering a document would do. */
export interface Preview {
  readonly effect: 'create' | 'replace' | 'refresh'
  readonly record: AgentRecord
  /** What the views of the agent would show beside its document. */
  readonly facts: RegistryFacts
  readonly warnings: readonly string[]
}

/**
 * Checks a document as registering it would, and changes nothing: throws what registering would throw. Signatures are not
 * verified, because that may need other servers.
 */
export function previewAgent(context: Context, sent: JsonObject, id: string | undefined, caller: Caller): Preview {
  if (!hasScope(caller, 'publish') && !hasScope(caller, 'ct'))
    throw new DirectoryError('forbidden', 'previewing a registration needs the publish scope')
  const imported = toImported({ document: sent, ...(id !== undefined && { id }) })
  const document = parseDocument(imported.format, imported.document, context.policy.strictness)
  const name = imported.id ?? (typeof document.id === 'string' ? document.id : context.newId())
  assertMayRegister(caller, name)
  const record = readRecord(imported.format, document, name)
  const warnings = checkContent(context, record, caller)
  const existing = context.catalog.get(name)
  if (!existing || isCopy(existing)) {
    assertMayOwn(context, name, ownerOfNew(caller, name, context.policy), caller)
    return { effect: 'create', record, facts: factsOfNew(context), warnings }
  }
  const owner = ownerAfterUpdate(context, existing, caller)
  if (owner === undefined) throw ownershipError(existing, 'claim', maySee(existing, caller, context.grantsOf))
  const verdict = judgeReplacement(record, existing, { isTakenOver: owner !== existing.owner })
  return {
    effect: verdict === 'noop' ? 'refresh' : 'replace',
    record,
    facts: context.catalog.facts(existing),
    warnings: [...warnings, ...lintUpdate(existing.published, record)],
  }
}

const factsOfNew = ({ now, maxLifetime, catalog }: Context): RegistryFacts => ({
  baseUrl: catalog.baseUrl(),
  number: 0,
  verification: {},
  lifetime: maxLifetime,
  receivedAt: now(),
  modifiedAt: now(),
})
