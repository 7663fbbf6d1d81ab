import { toAuditRow } from '../audit-row.js'
import { toCredential, toSigningKey } from '../rows.js'
import type { SecretStore } from '../secret-store.js'
import { isStorable, requireStorable } from '../storable.js'
import { prepare, type Read, rowsOf, type Sqlite } from './database.js'
import type { Writer } from './start-writer.js'

export function createSecretStore(db: Sqlite, read: Read, writer: Writer): SecretStore {
  const selectCredentials = prepare(db, 'SELECT * FROM credentials ORDER BY agent')
  const selectSigningKeys = prepare(db, 'SELECT * FROM signing_keys ORDER BY created_at, id')
  return {
    credentials: () => read(() => rowsOf(selectCredentials).map(toCredential)),
    async putCredential(credential, audit) {
      requireStorable(credential.agent, credential.owner)
      await writer.run('putCredential', { credential, audit: toAuditRow(audit) })
    },
    async deleteCredential(agent, audit) {
      return isStorable(agent) && writer.run('deleteCredential', { agent, audit: toAuditRow(audit) })
    },
    signingKeys: () => read(() => rowsOf(selectSigningKeys).map(toSigningKey)),
    async putSigningKey(key, audit) {
      await writer.run('putSigningKey', { key, audit: toAuditRow(audit) })
    },
    async deleteSigningKey(id, audit) {
      return isStorable(id) && writer.run('deleteSigningKey', { id, audit: toAuditRow(audit) })
    },
  }
}
