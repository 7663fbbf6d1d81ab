import { isProduction } from '../config.js'
import type { Gateway } from '../gateway/gateway.js'
import { createSignerKeys } from '../services/trust/signer-keys.js'
import { createVerifySignature, type VerifySignature } from '../services/trust/verify-signature.js'
import type { Base } from './base.js'

export interface Trust {
  readonly verifySignature: VerifySignature
}

/** What the directory finds out for itself about agents and their publishers. */
export function wireTrust({ config, now }: Base, { fetch }: Gateway): Trust {
  // In development, agents and their keys are on this machine, without TLS.
  const httpLoopback = !isProduction(config)
  const keysOf = createSignerKeys({ fetch, now, httpLoopback })
  return { verifySignature: createVerifySignature({ keysOf, now, httpLoopback }) }
}
