import { DOCUMENT_FORMATS } from '@switchboard/protocol'
import { PEER_PROTOCOLS, TRUST_LEVELS } from '../../policy/federation.js'
import { component } from '../schemas/component.js'
import { amount, anyObject, count, counts, flag, list, object, oneOf, text, texts, time } from '../schemas/parts.js'

const format = oneOf(...DOCUMENT_FORMATS)

/** A record as its origin has signed it; a later version may sign more members. */
const feedRecord = {
  ...object(
    {
      id: text,
      format,
      document: anyObject,
      redacted: flag,
      origin_service: text,
      indexed_at: time,
      received_at: time,
      expires_at: time,
      valid_until: time,
      gateway: text,
    },
    ...['redacted', 'indexed_at', 'received_at', 'expires_at', 'valid_until', 'gateway'],
  ),
  additionalProperties: true,
}

export const feedSchema = component(
  'FeedPage',
  object({
    agents: list(component('FeedEntry', object({ record: feedRecord, path: texts }))),
    removed: texts,
    full: flag,
    more: flag,
    cursor: text,
    service: text,
  }),
)

const peerMembers = {
  name: text,
  url: text,
  source: oneOf('config', 'admin'),
  trust: oneOf(...TRUST_LEVELS),
  interval_seconds: count,
  max_agents: count,
  keep_seconds: count,
  protocol: oneOf(...PEER_PROTOCOLS),
  has_token: flag,
  rank_weight: amount,
  tags: texts,
  publishers: texts,
  queries: texts,
  last_heard_at: time,
  last_listed_at: time,
  failures: count,
  error: text,
  refused: count,
  last_refusal: text,
}
const optional = [
  ...['rank_weight', 'tags', 'publishers', 'queries', 'last_heard_at', 'last_listed_at', 'error', 'last_refusal'],
]

export const shownPeerSchema = component('Peer', object(peerMembers, ...optional))
export const peersSchema = object({
  peers: list(component('ListedPeer', object({ ...peerMembers, agents: counts }, ...optional))),
})

export const copiesSchema = object({
  agents: list(
    component(
      'FederatedCopy',
      object(
        {
          agent: text,
          peer: text,
          state: oneOf('quarantined', 'rejected', 'accepted', 'listed'),
          format,
          origin_service: text,
          origin_authority: text,
          is_signed: flag,
          path: texts,
          received_at: time,
          expires_at: time,
          document: anyObject,
        },
        'expires_at',
      ),
    ),
  ),
})
