import type { AuditEntry } from './store.js'

/** Encrypted secrets. Changes appear in the change log as `secrets`. */
export interface SecretStore {
  credentials(): Promise<StoredCredential[]>
  putCredential(credential: StoredCredential, audit: AuditEntry): Promise<void>
  deleteCredential(agent: string, audit: AuditEntry): Promise<boolean>

  /** Oldest first. */
  signingKeys(): Promise<StoredSigningKey[]>
  putSigningKey(key: StoredSigningKey, audit: AuditEntry): Promise<void>
  deleteSigningKey(id: string, audit: AuditEntry): Promise<boolean>
}

/** The gateway's credential for one agent. */
export interface StoredCredential {
  agent: string
  /** The agent's owner when it was set: the agent of a later owner must not receive it. */
  owner: string
  /** Encrypted. */
  secret: string
  at: number
}

/** A key that signs responses. */
export interface StoredSigningKey {
  id: string
  /** The public half as a JSON Web Key, in JSON. */
  publicKey: string
  /** The private half, encrypted. */
  secret: string
  createdAt: number
}
