import { DirectoryError } from '@switchboard/protocol'
import { mayOperate } from '../../policy/access.js'
import { type Caller, hasScope } from '../../policy/caller.js'
import type { Context } from '../context.js'
import type { Agent } from './catalog.js'
import { assertMayOwn } from './may-own.js'
import { unknownAgent } from './read.js'
import type { Registration } from './register.js'

/**
 * The owner after an update by the caller; undefined if the caller may not change the agent. Whoever proves the domain
 * that a crawled agent belongs to takes it over (C-46).
 */
export function ownerAfterUpdate(
  context: Context,
  { record: { id }, owner, stored }: Agent,
  caller: Caller,
): string | undefined {
  if (mayOperate(caller, { id, owner })) return owner
  const { subject } = caller
  if (!stored.marks.crawled || subject === undefined || !hasScope(caller, 'publish')) return undefined
  if (!context.domains.proofOf({ id: owner, owner: subject })) return undefined
  assertMayOwn(context, id, subject, caller)
  return subject
}

/** Another owner's name cannot be claimed; its agent cannot be changed, and if it is hidden it does not exist (C-33). */
export function ownershipError(existing: Agent, intent: Registration['intent'], visible: boolean): DirectoryError {
  const { record, owner, stored } = existing
  const { id } = record
  if (stored.marks.crawled && visible) {
    const { host } = new URL(owner)
    return new DirectoryError(
      intent === 'claim' ? 'conflict' : 'forbidden',
      `the agent "${id}" was found at ${host} and belongs to that domain: to take it over, prove that you control it; POST /domains with {"domain":"${host}"} says how`,
    )
  }
  if (intent === 'claim') return new DirectoryError('conflict', `the name "${id}" belongs to another publisher`)
  return visible ? new DirectoryError('forbidden', `the agent "${id}" belongs to another publisher`) : unknownAgent(id)
}
