import { type AirUrn, ardIdentifier, DirectoryError, idOfAirUrn, invalid, parseAirUrn } from '@switchboard/protocol'
import { viewOf } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import type { Context } from '../context.js'
import type { Readable } from '../registry/read.js'

/**
 * The agent whose entry has this identifier. Throws `invalid_request` if it is not an identifier of ARD, and `not_found` if the
 * caller sees no such agent.
 */
export function readEntry(context: Context, identifier: string, caller: Caller): Readable {
  const urn = parseAirUrn(identifier)
  if (!urn) throw invalid([{ at: '/identifier', message: 'must have the form urn:air:<publisher>:<namespace>:<name>' }])
  for (const id of idsOf(identifier, urn)) {
    const agent = context.catalog.get(id)
    const record = agent && viewOf(agent, caller, context.grantsOf)
    if (agent && record && ardIdentifier(record, context.catalog.facts(agent)) === identifier) return { agent, record }
  }
  throw new DirectoryError('not_found', `there is no entry "${identifier}"`)
}

/** The ids that an agent with this identifier may have: its publisher's own, or the one that a directory has escaped. */
const idsOf = (identifier: string, urn: AirUrn): string[] => [identifier, ...[idOfAirUrn(urn) ?? []].flat()]
