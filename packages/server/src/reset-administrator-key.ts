import type { Config } from './config/settings.js'
import { resetAdminKey } from './services/identity/keys.js'
import { openPostgresStore } from './store/postgres/open-postgres-store.js'
import { openSqliteStore } from './store/sqlite/open-sqlite-store.js'

/** Replaces the administrator's key, even while a server uses the same data; returns the new secret. */
export async function resetAdministratorKey({ data, database }: Pick<Config, 'data' | 'database'>): Promise<string> {
  const store =
    database === undefined ? await openSqliteStore(data, { lock: false }) : await openPostgresStore(database)
  try {
    return await resetAdminKey(store, Date.now())
  } finally {
    await store.close()
  }
}
