import type { StoredCredential } from '../calls/admission/choose-credential.js'
import { isCalledThroughOrigin } from '../calls/admission/endpoints.js'
import type { Agent } from '../registry/catalog.js'
import type { Peers } from './peers.js'

/**
 * The credential for agents that are called through the gateway of a peer: our token there. It is sent to the peer itself
 * only, not to the origins of copies that the peer passes on.
 */
export function credentialAtPeer(peers: Peers, agent: Agent): StoredCredential | undefined {
  const { origin } = agent.stored.marks
  const peer = origin && peers.get(origin.peer)
  if (!origin || peer?.token === undefined || !isCalledThroughOrigin(agent)) return undefined
  const at = new URL(peer.url).origin
  if (new URL(origin.service).origin !== at) return undefined
  const headers = { authorization: `Bearer ${peer.token}` }
  return { obtain: async () => ({ headers, isStored: true, origins: new Set([at]) }) }
}
