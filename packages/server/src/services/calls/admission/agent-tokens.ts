import { createHash } from 'node:crypto'
import { DirectoryError } from '@switchboard/protocol'
import { LRUCache } from 'lru-cache'
import { CallFailed } from '../response/call-failed.js'
import type { AgentCredential } from './choose-credential.js'
import type { TokenCredential } from './credential.js'
import { type IssuedToken, requestToken, TokenRequestError } from './request-token.js'
import { createTokenCache } from './token-cache.js'

/** Why a request for a token failed. */
export interface TokenFailure {
  /** For the operator. */
  readonly reason: string
  /** Milliseconds. */
  readonly at: number
}

/** Tokens for agents, from the token endpoints that the operator has set. */
export interface AgentTokens {
  /** Throws if no token can be obtained: no call is made without it. */
  obtain(agent: string, credential: TokenCredential, subjectToken: string | undefined): Promise<AgentCredential>
  lastFailure(agent: string): TokenFailure | undefined
  /** Forgets it when the credential is set again. */
  forgetFailure(agent: string): void
}

export interface AgentTokensOptions {
  readonly now: () => number
  readonly onFailure: (agent: string, reason: string) => void
  readonly monotonic?: () => number
  /** From 0 to 1. */
  readonly random?: () => number
  /** Not guarded: the operator sets the addresses. */
  readonly fetch?: typeof fetch
}

/** Agents whose last failure is kept. */
const MAX_FAILURES = 1000
const RETRY_SECONDS = 5

export function createAgentTokens({
  now,
  onFailure,
  monotonic = () => performance.now(),
  random = Math.random,
  fetch = globalThis.fetch,
}: AgentTokensOptions): AgentTokens {
  const cache = createTokenCache({ monotonic, random })
  const failures = new LRUCache<string, TokenFailure>({ max: MAX_FAILURES })

  const request = async (
    agent: string,
    credential: TokenCredential,
    subjectToken: string | undefined,
  ): Promise<IssuedToken> => {
    try {
      return await requestToken(credential, subjectToken, fetch)
    } catch (error) {
      if (error instanceof TokenRequestError) {
        failures.set(agent, { reason: error.message, at: now() })
        onFailure(agent, error.message)
      }
      throw error
    }
  }

  return {
    lastFailure: (agent) => failures.peek(agent),
    forgetFailure(agent) {
      failures.delete(agent)
    },
    async obtain(agent, credential, callersToken) {
      const isExchanged = credential.type === 'token_exchange'
      if (isExchanged && callersToken === undefined) throw tokenRequired(agent)
      const subjectToken = isExchanged ? callersToken : undefined
      const key = keyOf(agent, credential, subjectToken)
      try {
        const token = await cache.get(key, () => request(agent, credential, subjectToken))
        return {
          headers: { authorization: `Bearer ${token}` },
          isStored: true,
          isExchanged,
          onRejected: () => cache.reject(key, token),
        }
      } catch (error) {
        throw error instanceof TokenRequestError ? toCallFailed(error) : error
      }
    },
  }
}

/**
 * Tokens are kept for each caller's token, not for each caller: one with fewer rights must not get what was issued for
 * one with more. A credential that is set again gets new tokens.
 */
function keyOf(agent: string, credential: TokenCredential, subjectToken: string | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([agent, credential, subjectToken ?? '']))
    .digest('base64')
}

const tokenRequired = (agent: string): DirectoryError =>
  new DirectoryError(
    'unauthorized',
    `the agent "${agent}" is called on behalf of its caller: authenticate to this directory with a token of your ` +
      'identity provider instead of an API key or certificate, or send the agent’s credential as X-Agent-Authorization',
    { headers: { 'www-authenticate': 'Bearer realm="switchboard"' } },
  )

/** The reason is for the operator; the caller learns only who has to act. */
function toCallFailed(error: TokenRequestError): CallFailed {
  const failure = { mayHaveRun: false, cause: error }
  return error.isTemporary
    ? new CallFailed('unavailable', 'the token for the agent cannot be obtained at the moment: try again later', {
        ...failure,
        retryAfter: RETRY_SECONDS,
      })
    : new CallFailed(
        'agent_error',
        'this directory could not obtain a token for the agent: its operator has to correct the agent’s credential',
        failure,
      )
}
