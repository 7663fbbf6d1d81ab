import { type AgentRecord, DirectoryError } from '@switchboard/protocol'
import { viewOf } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import { isStoreFailure } from '../../store/store-error.js'
import type { Context } from '../context.js'
import type { Agent } from './catalog.js'

/** An agent, and its record as the caller may see it. */
export interface Readable {
  readonly agent: Agent
  readonly record: AgentRecord
}

/** One agent by id; throws `not_found` if the caller may not see it (C-70). */
export function readAgent(context: Context, id: string, caller: Caller): Readable {
  const agent = context.catalog.get(id)
  const record = agent && viewOf(agent, caller, context.grantsOf)
  if (!agent || !record) throw unknownAgent(id)
  return { agent, record }
}

export const unknownAgent = (id: string): DirectoryError => new DirectoryError('not_found', `there is no agent "${id}"`)

/** One agent by the number of its registration. */
export async function readRegistration(context: Context, number: number, caller: Caller): Promise<Readable> {
  const agent = context.catalog.byNumber(number)
  const record = agent && viewOf(agent, caller, context.grantsOf)
  if (!agent || !record) throw await unknownRegistration(context, number).catch(withoutStore(number))
  return { agent, record }
}

/** Reads go on without the store; whether the registration has expired is not known then. */
const withoutStore =
  (number: number) =>
  (error: unknown): DirectoryError => {
    if (!isStoreFailure(error)) throw error
    return unknownNumber(number)
  }

/** `registration_expired` as long as the expiry is on record, otherwise `not_found`. */
export async function unknownRegistration(context: Context, number: number): Promise<DirectoryError> {
  const tombstone = context.catalog.byNumber(number) ? undefined : await context.store.tombstone({ number })
  if (tombstone?.reason !== 'expired') return unknownNumber(number)
  return new DirectoryError('registration_expired', `the registration /ad/r/${number} has expired: register again`)
}

const unknownNumber = (number: number): DirectoryError =>
  new DirectoryError('not_found', `there is no registration /ad/r/${number}`)
