import {
  type AgentRecord,
  claimedSigners,
  isObject,
  isSigned,
  SigningError,
  type VerificationKey,
  verifyDocument,
} from '@switchboard/protocol'
import { originOfId } from '../../policy/id-origin.js'
import type { SignatureFinding } from '../../store/store.js'
import type { SignerKeys } from './signer-keys.js'

/** Verifies the signature of a publisher's document; undefined if it has none. Never rejects because of the document. */
export type VerifySignature = (record: AgentRecord) => Promise<SignatureFinding | undefined>

export interface VerifySignatureOptions {
  readonly keysOf: SignerKeys
  readonly now: () => number
  /** For development: ids may name hosts on this machine. */
  readonly httpLoopback: boolean
}

/** Signers whose keys are tried: each may be a request to another host. */
const MAX_SIGNERS = 3
/** Characters of a signer or key id that are shown. */
const MAX_SHOWN = 256
const NOT_READ = 'could not be read'

/** Whether a signature could not be verified because keys were out of reach, which may be different in a moment. */
export const hadNoKeys = ({ state, reason }: SignatureFinding): boolean =>
  state === 'unverifiable' && reason?.includes(NOT_READ) === true

/**
 * A document is verified with the keys of the DID that its signature or `identity` names, and with the key set on the
 * domain of its id (C-64). `matches_id` tells a signature by the DID or domain of the id from one by anybody else.
 */
export function createVerifySignature({ keysOf, now, httpLoopback }: VerifySignatureOptions): VerifySignature {
  const attempt = async ({ document }: AgentRecord, signer: string): Promise<Attempt> => {
    let keys: readonly VerificationKey[]
    try {
      keys = await keysOf(signer)
    } catch {
      return { signer, code: 'unreadable', reason: `the keys of ${signer.slice(0, MAX_SHOWN)} ${NOT_READ}` }
    }
    try {
      return { signer, ...(await verifyDocument(document, keys)) }
    } catch (error) {
      if (!(error instanceof SigningError)) throw error
      return { signer, code: error.code, reason: error.message }
    }
  }

  const verify = async (record: AgentRecord): Promise<Omit<SignatureFinding, 'checked_at'> | undefined> => {
    if (!isSigned(record.document)) return unreadable(record)
    const origin = originOfId(record.id, httpLoopback)
    const signers = signersOf(record, origin)
    if (!signers) return { state: 'invalid', reason: 'the signature has no readable header' }
    if (signers.length === 0)
      return {
        state: 'unverifiable',
        reason:
          'neither the signature nor the id says where its keys are: use a did:key, a did:web or a URI with a domain',
      }
    const attempts = await Promise.all(signers.map((signer) => attempt(record, signer)))
    const valid = attempts.find((each) => 'algorithm' in each)
    if (valid) {
      const { signer, algorithm, key } = valid
      const matches =
        signer === record.id || (origin !== undefined && originOfSigner(signer, httpLoopback) === origin.origin)
      return {
        state: 'valid',
        by: signer.slice(0, MAX_SHOWN),
        ...(key !== undefined && { key: key.slice(0, MAX_SHOWN) }),
        algorithm,
        matches_id: matches,
      }
    }
    const failures = attempts.flatMap((each) => ('code' in each ? [each] : []))
    const wrong = failures.find(({ code }) => code === 'bad_signature')
    if (wrong) return { state: 'invalid', by: wrong.signer.slice(0, MAX_SHOWN), reason: wrong.reason }
    return { state: 'unverifiable', reason: failures.map(({ reason }) => reason).join('; ') }
  }

  return async (record) => {
    const finding = await verify(record)
    return finding && { ...finding, checked_at: new Date(now()).toISOString() }
  }
}

type Attempt = { readonly signer: string } & (
  | Awaited<ReturnType<typeof verifyDocument>>
  | { readonly code: SigningError['code'] | 'unreadable'; readonly reason: string }
)

/** The profile allows any object as a signature; one in another form is not ignored silently. */
function unreadable({ document }: AgentRecord): Omit<SignatureFinding, 'checked_at'> | undefined {
  if (!isObject(document.signature) && !Array.isArray(document.signatures)) return undefined
  return { state: 'unverifiable', reason: 'the signature is not a JWS: only detached JWS can be verified' }
}

/** Whose keys may verify the document, the most specific first; undefined if a header cannot be read. */
function signersOf({ document, identity }: AgentRecord, origin: URL | undefined): string[] | undefined {
  let claimed: ReturnType<typeof claimedSigners>
  try {
    claimed = claimedSigners(document)
  } catch (error) {
    if (error instanceof SigningError) return undefined
    throw error
  }
  const dids = [...claimed.map(({ key }) => key), identity].flatMap((text) => didOf(text) ?? [])
  // A key set elsewhere would let anybody vouch for the id.
  const keySets = claimed.flatMap(({ keySet }) => (origin && isOn(origin, keySet) ? [keySet] : []))
  const wellKnown = origin ? [new URL('/.well-known/jwks.json', origin).href] : []
  return [...new Set([...dids, ...keySets, ...wellKnown])].slice(0, MAX_SIGNERS)
}

/** The DID of a DID URL, if its method is supported. */
const didOf = (text: string | undefined): string | undefined =>
  text !== undefined && /^did:(key|web):/.test(text) ? text.split(/[#?]/)[0] : undefined

const isOn = (origin: URL, url: string | undefined): url is string =>
  url !== undefined && URL.canParse(url) && new URL(url).origin === origin.origin

/** The origin that a signer's keys come from. */
const originOfSigner = (signer: string, httpLoopback: boolean): string | undefined =>
  originOfId(signer, httpLoopback)?.origin
