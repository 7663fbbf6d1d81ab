import type { Config } from '../config/settings.js'
import { createSubjects } from '../policy/subjects.js'
import { type Authenticate, createAuthenticate } from '../services/identity/authenticate.js'
import { createGrants, type Grants } from '../services/identity/grants.js'
import { speakersOf } from '../services/identity/issuers.js'
import { createKeys, ensureAdminKey, type Keys } from '../services/identity/keys.js'
import { choosePlainIssuer } from '../services/identity/plain-issuer.js'
import { createSeal, type Seal } from '../services/identity/seal.js'
import { createSigning, type Signing } from '../services/identity/signing.js'
import { createTokens } from '../services/identity/tokens.js'
import { readSecret } from '../store/sqlite/read-secret.js'
import type { Base } from './base.js'

export interface Identity {
  readonly keys: Keys
  readonly grants: Grants
  readonly signing: Signing
  readonly authenticate: Authenticate
  /** Undefined: secrets cannot be encrypted, so none are stored. */
  readonly seal: Seal | undefined
  /** The administrator's key if it was generated at this start. */
  readonly generatedAdminKey: string | undefined
}

/** API keys, tokens, certificates, grants, and the secrets of the directory itself. */
export async function wireIdentity({
  config,
  store,
  storeStatus,
  log,
  now,
  monotonic,
  logError,
}: Base): Promise<Identity> {
  const generatedAdminKey = await ensureAdminKey(store, config.adminKey, now())
  const keys = await createKeys(store, now)
  const seal = openSeal(config)
  const { issuers } = config
  const plainIssuer = await choosePlainIssuer(store, issuers)
  if (issuers.length > 0)
    log.info({ plainIssuer }, 'subjects of tokens are qualified with their issuer, except the plain one')
  const subjects = createSubjects({ plainIssuer, trustDomains: speakersOf(issuers) })
  return {
    keys,
    grants: await createGrants(store, now),
    seal,
    signing: await createSigning({ store, seal, now, onError: logError('could not rotate the signing key') }),
    authenticate: createAuthenticate({
      keys,
      assertKeysKnown: storeStatus.assertKeysKnown,
      tokens: createTokens({ issuers, subjects, now, monotonic }),
      subjects,
      certificateScopes: config.certificates.scopes,
      now,
    }),
    generatedAdminKey,
  }
}

/** Uses SWITCHBOARD_SECRET, else the secret of the data folder. Replicas on one database must share the former. */
function openSeal({ secret, database, data }: Config): Seal | undefined {
  if (secret !== undefined) return createSeal(secret)
  return database === undefined ? createSeal(readSecret(data)) : undefined
}
