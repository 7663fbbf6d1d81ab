import type { AgentWrite, AuditEntry, AuditFilter, Store, StoredAgent, WriteResult } from '../../src/store/store.js'

type Put = Extract<AgentWrite, { kind: 'put' }>
type Refresh = Extract<AgentWrite, { kind: 'refresh' }>
type Remove = Extract<AgentWrite, { kind: 'remove' }>

export const AT = 1_700_000_000_000

export const entry = (changes: Partial<AuditEntry> = {}): AuditEntry => ({
  at: AT,
  actor: 'alice',
  action: 'register',
  outcome: 'ok',
  ...changes,
})

export const put = (id: string, changes: Partial<Put> = {}): Put => ({
  kind: 'put',
  id,
  expect: undefined,
  owner: 'alice',
  format: 'aidip',
  document: { id, name: id },
  memory: 1000,
  lease: 'keep',
  marks: {},
  at: AT,
  received: true,
  audit: entry({ agent: id }),
  ...changes,
})

export const refresh = (agent: StoredAgent, changes: Partial<Refresh> = {}): Refresh => ({
  kind: 'refresh',
  id: agent.id,
  number: agent.number,
  lease: { seconds: 60, expiresAt: AT + 60_000 },
  at: AT,
  audit: entry({ action: 'refresh', agent: agent.id }),
  ...changes,
})

export const remove = (agent: StoredAgent, changes: Partial<Remove> = {}): Remove => ({
  kind: 'remove',
  id: agent.id,
  expect: agent.revision,
  reason: 'removed',
  at: AT,
  audit: entry({ action: 'remove', agent: agent.id }),
  ...changes,
})

/** The agent that a write has stored. */
export async function stored(result: Promise<WriteResult>): Promise<StoredAgent> {
  const settled = await result
  if (settled.outcome !== 'done' || !settled.agent) throw new Error(`not stored: ${settled.outcome}`)
  return settled.agent
}

export async function loadAll(store: Store): Promise<{ cursor: string; agents: StoredAgent[] }> {
  const { cursor, agents } = await store.load()
  const all: StoredAgent[] = []
  for await (const batch of agents) all.push(...batch)
  return { cursor, agents: all }
}

/** The entries of the audit log, newest first, without their cursors. */
export const newestEntries = async (store: Store, filter: AuditFilter): Promise<AuditEntry[]> =>
  (await store.audit(filter)).map(({ entry }) => entry)
