import type { Config } from '../config/settings.js'
import { createSubjects, type Subjects } from '../policy/subjects.js'
import { type Authenticate, createAuthenticate } from '../services/identity/authenticate.js'
import { createGrants, type Grants } from '../services/identity/grants.js'
import { speakersOf } from '../services/identity/issuers.js'
import { createKeys, ensureAdminKey, type Keys } from '../services/identity/keys.js'
import { choosePlainIssuer } from '../services/identity/plain-issuer.js'
import { createSeal, type Seal } from '../services/identity/seal.js'
import { createSessions, type Sessions } from '../services/identity/sessions.js'
import { createSigning, type Signing } from '../services/identity/signing.js'
import { createTokens } from '../services/identity/tokens.js'
import { readSecret } from '../store/sqlite/read-secret.js'
import type { Base } from './base.js'

const HOUR_MS = 3_600_000

export interface Identity {
  readonly keys: Keys
  readonly grants: Grants
  readonly signing: Signing
  readonly authenticate: Authenticate
  /** Sessions of browsers; undefined: their cookies cannot be encrypted, so there are none. */
  readonly sessions: Sessions | undefined
  readonly subjects: Subjects
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
    subjects,
    signing: await createSigning({ store, seal, now, onError: logError('could not rotate the signing key') }),
    authenticate: createAuthenticate({
      keys,
      assertKeysKnown: storeStatus.assertKeysKnown,
      tokens: createTokens({ issuers, subjects, now, monotonic }),
      subjects,
      certificateScopes: config.certificates.scopes,
      now,
    }),
    sessions:
      seal &&
      (await createSessions({
        seal,
        keys,
        signsIn: (name) => config.issuers.some(({ issuer, signIn }) => issuer === name && signIn !== undefined),
        assertKeysKnown: storeStatus.assertKeysKnown,
        store: store.trust,
        lifetimeMs: config.sessions.hours * HOUR_MS,
        now,
      })),
    generatedAdminKey,
  }
}

/** Uses SWITCHBOARD_SECRET, else the secret of the data folder. Replicas on one database must share the former. */
function openSeal({ secret, database, data }: Config): Seal | undefined {
  if (secret !== undefined) return createSeal(secret)
  return database === undefined ? createSeal(readSecret(data)) : undefined
}
