import type { AuditEntry } from './store.js'

/** Secrets, which come here encrypted. A change of them is in the change log as `secrets`. */
export interface SecretStore {
  credentials(): Promise<StoredCredential[]>
  putCredential(credential: StoredCredential, audit: AuditEntry): Promise<void>
  deleteCredential(agent: string, audit: AuditEntry): Promise<boolean>

  /** Oldest first. */
  signingKeys(): Promise<StoredSigningKey[]>
  putSigningKey(key: StoredSigningKey, audit: AuditEntry): Promise<void>
  deleteSigningKey(id: string, audit: AuditEntry): Promise<boolean>
}

/** How the gateway shows itself to one agent. */
export interface StoredCredential {
  agent: string
  /** Whose agent it was: a later owner of the name is not shown it. */
  owner: string
  /** Encrypted. */
  secret: string
  at: number
}

/** A key that answers are signed with. */
export interface StoredSigningKey {
  id: string
  /** The public half as a JSON Web Key, in JSON. */
  publicKey: string
  /** The private half, encrypted. */
  secret: string
  createdAt: number
}
