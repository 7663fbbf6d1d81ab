import { createHash } from 'node:crypto'
import type { AgentRecord, Operation } from '@switchboard/protocol'
import { endpointsOf } from '../../../gateway/endpoints-of.js'
import { type Endpoint, GatewayError } from '../../../gateway/gateway.js'
import { sendOverFetch } from '../../../gateway/http/send-over-fetch.js'
import { createSwrCache } from '../../../gateway/resilience/swr-cache.js'
import { withTimeout } from '../../../gateway/resilience/with-timeout.js'
import { readCard } from '../../../gateway/transports/a2a/read-card.js'
import { listTools } from '../../../gateway/transports/mcp/list-tools.js'
import type { AgentCredential } from './choose-credential.js'
import { originOf } from './endpoints.js'

/**
 * The operations of an agent: those of its record, completed from its A2A card or its MCP tools. The credential
 * authenticates that request. If it fails, the operations are those of the record.
 */
export type LearnOperations = (
  agent: { readonly record: AgentRecord },
  credential?: Pick<AgentCredential, 'headers' | 'origins'>,
) => Promise<readonly Operation[]>

export interface LearnDeps {
  /** Guarded against internal addresses. */
  readonly fetch: typeof fetch
  readonly monotonic: () => number
  readonly newId: () => string
}

/** Milliseconds; only the first caller of an agent waits. */
const TIMEOUT_MS = 5000
/** `limit` in agents, `maxSize` in characters of JSON: a hostile list of tools can be larger than a thousand others. */
const CACHE = { freshMs: 300_000, usableMs: 86_400_000, failedMs: 60_000, limit: 2000, maxSize: 32 << 20 }

/** Reads the operations of A2A and MCP agents, through a stale-while-revalidate cache. */
export function createLearnOperations({ fetch, monotonic, newId }: LearnDeps): LearnOperations {
  const sendRequest = sendOverFetch(fetch)
  const learned = createSwrCache<readonly Operation[]>({
    ...CACHE,
    monotonic,
    size: (operations) => JSON.stringify(operations).length,
  })

  const learn = (
    { protocol, url }: Endpoint,
    headers: Readonly<Record<string, string>>,
  ): Promise<readonly Operation[]> =>
    withTimeout(TIMEOUT_MS, async (signal) => {
      if (protocol === 'mcp') return listTools({ sendRequest, newId }, { url, headers }, signal)
      const card = await readCard(sendRequest, url, signal)
      return card?.operations ?? []
    })

  return async (
    { record },
    { headers: own, origins }: Pick<AgentCredential, 'headers' | 'origins'> = { headers: {} },
  ) => {
    // Every call passes here, and most records already have their schemas.
    const endpoint = record.operations.every(({ inputs }) => isAnything(inputs))
      ? endpointsOf(record).find((each) => describesMore(each, record))
      : undefined
    if (!endpoint) return record.operations
    const headers = origins && !origins.has(originOf(endpoint.url)) ? {} : own
    try {
      const described = await learned.get(keyOf(endpoint, headers), () => learn(endpoint, headers))
      return merge(record.operations, described)
    } catch (error) {
      // The call will fail for the same reason, with an error for the caller.
      if (error instanceof GatewayError) return record.operations
      throw error
    }
  }
}

/** A list of tools has schemas, which a record seldom has; a card only repeats the names of its skills. */
function describesMore({ protocol }: Endpoint, { operations }: AgentRecord): boolean {
  return protocol === 'mcp' || (protocol === 'a2a' && operations.length === 0)
}

const isAnything = (schema: Operation['inputs']): boolean => Object.keys(schema).every((name) => name === 'type')

/** The operations that the publisher listed, with the agent's own schemas; all of the agent's if none is listed. */
function merge(listed: readonly Operation[], described: readonly Operation[]): readonly Operation[] {
  if (listed.length === 0) return described
  const byName = new Map(described.map((operation) => [operation.name, operation]))
  return listed.map((operation) => {
    const { inputs, outputs } = byName.get(operation.name) ?? operation
    return { ...operation, inputs, outputs }
  })
}

/** An agent may describe different operations to different credentials. */
function keyOf({ protocol, url }: Endpoint, headers: Readonly<Record<string, string>>): string {
  return createHash('sha256')
    .update(JSON.stringify([protocol, url, Object.entries(headers).sort()]))
    .digest('base64')
}
