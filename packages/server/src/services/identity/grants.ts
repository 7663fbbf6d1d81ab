import { randomBytes } from 'node:crypto'
import { DirectoryError } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { Store, StoredGrant } from '../../store/store.js'
import { auditOf } from '../context.js'
import { stateOfGrant } from '../operations/audit-state.js'

/** Permissions to find and call agents that are not public (C-95). */
export interface Grants {
  of(subject: string): readonly StoredGrant[]
  list(): readonly StoredGrant[]
  create(grant: Omit<StoredGrant, 'id' | 'createdAt'>, caller: Caller): Promise<StoredGrant>
  revoke(id: string, caller: Caller): Promise<void>
  reload(): Promise<void>
}

export async function createGrants(store: Store, now: () => number): Promise<Grants> {
  let all: StoredGrant[] = []
  let bySubject = new Map<string, StoredGrant[]>()

  const set = (grants: StoredGrant[]): void => {
    all = grants
    bySubject = groupBySubject(grants)
  }
  const reload = async (): Promise<void> => {
    const stored = await store.grants()
    const known = new Set(all.map(stampOf))
    if (stored.length !== known.size || stored.some((grant) => !known.has(stampOf(grant)))) set(stored)
  }
  await reload()

  return {
    reload,
    of: (subject) => bySubject.get(subject) ?? [],
    list: () => all,
    async create(values, caller) {
      // Not base64url: an id that starts with a hyphen looks like a flag on the command line.
      const grant: StoredGrant = { ...values, id: randomBytes(9).toString('hex'), createdAt: now() }
      const detail = `${grant.id}: ${grant.scopes.join(' ')} for ${grant.subject}`
      const agent = grant.agent && { agent: grant.agent.id }
      const audit = auditOf(caller, 'grant.create', now(), { detail, ...agent, after: stateOfGrant(grant) })
      await store.putGrant(grant, audit)
      // A reload may have been faster.
      set([...all.filter(({ id }) => id !== grant.id), grant])
      return grant
    },
    async revoke(id, caller) {
      const known = all.find((grant) => grant.id === id)
      const agent = known?.agent && { agent: known.agent.id }
      const about = { detail: id, ...agent, ...(known && { before: stateOfGrant(known) }) }
      const found = await store.deleteGrant(id, auditOf(caller, 'grant.revoke', now(), about))
      if (!found) throw new DirectoryError('not_found', `there is no grant "${id}"`)
      set(all.filter((grant) => grant.id !== id))
    },
  }
}

/** What can change: subjects can be renamed, everything else of a grant is immutable. */
const stampOf = ({ id, subject, agent }: StoredGrant): string => JSON.stringify([id, subject, agent?.owner])

function groupBySubject(grants: readonly StoredGrant[]): Map<string, StoredGrant[]> {
  const groups = new Map<string, StoredGrant[]>()
  for (const grant of grants) groups.set(grant.subject, [...(groups.get(grant.subject) ?? []), grant])
  return groups
}
