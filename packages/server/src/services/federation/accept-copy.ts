import {
  type AgentRecord,
  asString,
  DirectoryError,
  type DocumentFormat,
  idProblem,
  isObject,
  type JsonObject,
  parseDocument,
  parseTimestamp,
  readRecord,
  sameJson,
} from '@switchboard/protocol'
import { assertMayClaim } from '../../policy/access.js'
import type { Caller } from '../../policy/caller.js'
import { assertDocumentSize } from '../../policy/document-limits.js'
import { MAX_HOPS, type Peer, peerPolicyProblem, stateOfCopy } from '../../policy/federation.js'
import { FEDERATION, QUALIFIER } from '../../policy/subjects.js'
import { assertClaims, assertEndpoints } from '../../policy/vetting.js'
import type { FederatedCopy, Origin } from '../../store/federation-store.js'
import type { Context } from '../context.js'
import type { KnownPeer } from './peers.js'
import type { PeerEntry } from './read-feed.js'
import type { VerifyOrigin } from './verify-origin.js'

/**
 * A copy to keep, or why there is none: `refused` if the peer should not have sent it or the operator does not want it,
 * `ours` if it is this directory's own agent that has come back.
 */
export type Acceptance = { readonly copy: FederatedCopy } | { readonly refused: string } | { readonly ours: true }

/** Checks what a peer says about one agent, and decides what it is worth. */
export type AcceptCopy = (peer: KnownPeer, entry: PeerEntry, earlier: FederatedCopy | undefined) => Promise<Acceptance>

export interface AcceptCopyOptions {
  readonly context: Pick<Context, 'policy' | 'production' | 'domains' | 'now'>
  readonly verifyOrigin: VerifyOrigin
  /** URL of this directory. */
  readonly baseUrl: () => string
  /** Ids of the keys with which this directory signs. */
  readonly ownKeys: () => readonly string[]
}

const FORMATS: readonly DocumentFormat[] = ['aidip', 'profile', 'directory', 'descriptor', 'a2a', 'mcp']
const MAX_URL_LENGTH = 2048
/** Bytes of what an origin signs besides the document: it is kept in memory, and sent to everybody who reads our feed. */
const MAX_SIGNED_BYTES = 16_384

/** The owner of the copies of one origin. No credential stands for this name. */
export const ownerOfCopies = (service: string): string => FEDERATION + QUALIFIER + service
export const isOwnerOfCopies = (owner: string): boolean => owner.startsWith(FEDERATION + QUALIFIER)

/** A caller with the rights of an ordinary publisher: what only some publishers may claim is not accepted from peers. */
export const asPublisher = (owner: string): Caller => ({
  subject: owner,
  kind: 'token',
  scopes: new Set(['publish']),
  address: '',
  requestId: '',
})

/** Whatever a peer sends is untrusted: only what this directory has checked itself is kept. */
export function createAcceptCopy({ context, verifyOrigin, baseUrl, ownKeys }: AcceptCopyOptions): AcceptCopy {
  const { policy, production, domains, now } = context

  const isOurs = (record: JsonObject, path: readonly string[]): boolean => {
    const kid = isObject(record.signature) ? record.signature.kid : undefined
    const self = baseUrl()
    return record.origin_service === self || path.includes(self) || ownKeys().some((id) => id === kid)
  }

  /** The origin that this directory can vouch for: the peer itself, or whoever has signed the record. */
  const originOf = async (
    peer: Peer,
    { record, path }: PeerEntry,
  ): Promise<Pick<Origin, 'service' | 'signature'> | undefined> => {
    const claimed = serviceOf(record.origin_service)
    const signature = claimed === undefined ? undefined : await verifyOrigin(record, claimed, peer)
    if (claimed !== undefined && signature) return { service: claimed, signature }
    return path.length <= 1 ? { service: peer.url } : undefined
  }

  const vet = (peer: Peer, record: AgentRecord, service: string): string | undefined => {
    const publisher = asPublisher(ownerOfCopies(service))
    const { host } = new URL(service)
    assertEndpoints(record, policy, production)
    assertMayClaim(publisher, record.id, policy)
    assertClaims(record, publisher, policy)
    const domain = policy.requireDomainProof ? domains.nameOf(record.id) : undefined
    if (domain !== undefined && domain !== host) return `its id names ${domain}, which its origin does not control`
    return peerPolicyProblem(peer, record, host)
  }

  const read = (record: JsonObject): AgentRecord | string => {
    const id = asString(record.id)
    const format = FORMATS.find((known) => known === record.format)
    if (id === undefined || idProblem(id) !== undefined) return 'it has no valid id'
    if (!format || !isObject(record.document)) return 'it has no document of a known format'
    assertDocumentSize(record.document)
    return readRecord(format, parseDocument(format, record.document), id, record.redacted === true)
  }

  const accept: AcceptCopy = async (peer, entry, earlier) => {
    const { record, path } = entry
    if (isOurs(record, path)) return { ours: true }
    if (path.length > MAX_HOPS || path.some((url) => serviceOf(url) === undefined))
      return { refused: `its path is not a list of at most ${MAX_HOPS} URLs` }
    const agent = read(record)
    if (typeof agent === 'string') return { refused: agent }
    const origin = await originOf(peer, entry)
    if (!origin) return { refused: 'it is a copy from another directory without a valid signature of its origin' }
    const problem = vet(peer, agent, origin.service)
    if (problem !== undefined) return { refused: problem }
    if (path.length > 1 && serviceOf(path[0]) !== origin.service)
      return { refused: 'its path does not start at its origin' }
    if (origin.signature && Buffer.byteLength(JSON.stringify(signedPart(record))) > MAX_SIGNED_BYTES)
      return { refused: `it has more than ${MAX_SIGNED_BYTES} bytes besides its document` }
    const end = endOf(record, isPassedOn(peer, entry, origin.service))
    if (end !== undefined && !(end > now())) return { refused: 'it has expired' }
    const isSame =
      earlier?.format === agent.format &&
      earlier.origin.service === origin.service &&
      sameJson(earlier.document, agent.document)
    return {
      copy: {
        peer: peer.name,
        agent: agent.id,
        state: stateOfCopy(peer, earlier?.state, !isSame),
        format: agent.format,
        document: agent.document,
        origin: {
          ...origin,
          ...(origin.signature && { signed: signedPart(record) }),
          peer: peer.name,
          authority: new URL(origin.service).host,
          path: path.length > 1 ? [...path] : [origin.service],
          received_at: isSame ? earlier.origin.received_at : new Date(now()).toISOString(),
          freshness: freshnessOf(record),
          ...(agent.redacted && { redacted: true }),
          ...gatewayOf(record, origin.service),
        },
        seenAt: now(),
        ...(end !== undefined && { expiresAt: end }),
      },
    }
  }

  return async (peer, entry, earlier) => {
    try {
      return await accept(peer, entry, earlier)
    } catch (error) {
      if (error instanceof DirectoryError) return { refused: error.message }
      throw error
    }
  }
}

/** Whether the peer is not the origin. A short path proves nothing: the peer has written it. */
const isPassedOn = ({ url }: Peer, { path }: PeerEntry, service: string): boolean =>
  path.length > 1 || new URL(service).origin !== new URL(url).origin

/** The base URL of a directory; undefined if the text is not a valid one. A backslash would hide where the host ends. */
function serviceOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_URL_LENGTH || !/^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/.test(value))
    return undefined
  if (!URL.canParse(value) || /[?#@]/.test(value)) return undefined
  return value.replace(/\/+$/, '')
}

/** The end of the lifetime in milliseconds. What others pass on ends with the signature at the latest. */
function endOf({ expires_at: expires, valid_until: valid }: JsonObject, isPassedOn: boolean): number | undefined {
  const times = isPassedOn ? [expires, valid] : [expires]
  const ends = times.flatMap((time) => (time === undefined ? [] : (parseTimestamp(asString(time) ?? '') ?? Number.NaN)))
  if (isPassedOn && valid === undefined) return Number.NaN
  return ends.length === 0 ? undefined : Math.min(...ends)
}

function freshnessOf(record: JsonObject): Origin['freshness'] {
  const timeOf = (name: string) => {
    const time = parseTimestamp(asString(record[name]) ?? '')
    return time === undefined ? {} : { [name]: new Date(time).toISOString() }
  }
  return { ...timeOf('indexed_at'), ...timeOf('received_at'), ...timeOf('expires_at') }
}

/** Calls go to the origin's own gateway only. */
function gatewayOf({ gateway }: JsonObject, service: string): Pick<Origin, 'gateway'> {
  const isAtOrigin =
    typeof gateway === 'string' && gateway.length <= MAX_URL_LENGTH && gateway.startsWith(`${service}/`)
  return isAtOrigin ? { gateway } : {}
}

/** The signed record without its document, which is stored anyway. */
function signedPart({ document: _document, ...signed }: JsonObject): JsonObject {
  return signed
}
