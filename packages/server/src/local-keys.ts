import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from './config/settings.js'
import type { Caller } from './policy/caller.js'
import { assertNewKey, createKeys, type NewKey, resetAdminKey } from './services/identity/keys.js'
import { openPostgresStore } from './store/postgres/open-postgres-store.js'
import { openSqliteStore } from './store/sqlite/open-sqlite-store.js'
import type { Store } from './store/store.js'
import { POLL_MS } from './wiring/lifecycle.js'

type Place = Pick<Config, 'data' | 'database'>

/** Replaces the administrator's key, even while a server uses the same data; returns the new secret. */
export const resetAdministratorKey = (place: Place): Promise<string> =>
  withStore(place, (store) => resetAdminKey(store, Date.now()))

/** Creates a key in the data of a directory, which may be running; returns its id and secret once the directory accepts it. */
export async function createLocalKey(
  { data, database, policy }: Place & Pick<Config, 'policy'>,
  key: NewKey,
): Promise<{ readonly id: string; readonly secret: string }> {
  assertNewKey(key, policy)
  return withStore({ data, database }, async (store) => {
    const keys = await createKeys(store, Date.now)
    const created = await keys.create(key, { ...OPERATOR, requestId: randomUUID() })
    // A running server reads the key at its next poll.
    await pause(2 * POLL_MS)
    return { id: created.key.id, secret: created.secret }
  })
}

/** Whoever can write the data, under the name that the audit log has for them. */
const OPERATOR: Omit<Caller, 'requestId'> = {
  subject: 'switchboard',
  kind: 'key',
  scopes: new Set(['admin']),
  address: '',
}

async function withStore<T>({ data, database }: Place, use: (store: Store) => Promise<T>): Promise<T> {
  const store =
    database === undefined ? await openSqliteStore(data, { lock: false }) : await openPostgresStore(database)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}
