import { toCredential, toSigningKey } from '../rows.js'
import type { SecretStore } from '../secret-store.js'
import { isStorable, requireStorable } from '../storable.js'
import { administer } from './administer.js'
import type { Connection } from './connect.js'

export function createSecretStore(connection: Connection): SecretStore {
  const { query } = connection
  return {
    async credentials() {
      return (await query('SELECT * FROM credentials ORDER BY agent')).map(toCredential)
    },
    async putCredential({ agent, owner, secret, at }, audit) {
      requireStorable(agent, owner)
      const statement = `
        INSERT INTO credentials (agent, owner, secret, at) VALUES ($3, $4, $5, $6)
        ON CONFLICT (agent) DO UPDATE SET owner = excluded.owner, secret = excluded.secret, at = excluded.at`
      await administer(connection, 'secrets', statement, [agent, owner, secret, at], audit)
    },
    async deleteCredential(agent, audit) {
      const statement = 'DELETE FROM credentials WHERE agent = $3'
      return isStorable(agent) && administer(connection, 'secrets', statement, [agent], audit)
    },
    async signingKeys() {
      return (await query('SELECT * FROM signing_keys ORDER BY created_at, id')).map(toSigningKey)
    },
    async putSigningKey({ id, publicKey, secret, createdAt }, audit) {
      const statement = `
        INSERT INTO signing_keys (id, public_key, secret, created_at) VALUES ($3, $4, $5, $6)
        ON CONFLICT (id) DO UPDATE SET public_key = excluded.public_key, secret = excluded.secret,
          created_at = excluded.created_at`
      await administer(connection, 'secrets', statement, [id, publicKey, secret, createdAt], audit)
    },
    async deleteSigningKey(id, audit) {
      const statement = 'DELETE FROM signing_keys WHERE id = $3'
      return isStorable(id) && administer(connection, 'secrets', statement, [id], audit)
    },
  }
}
