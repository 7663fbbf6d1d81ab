import { createHash } from 'node:crypto'
import type { AgentRecord, Operation } from '@switchboard/protocol'
import { endpointsOf } from '../../gateway/endpoints-of.js'
import { type Endpoint, GatewayError } from '../../gateway/gateway.js'
import { sendOverFetch } from '../../gateway/http/send-over-fetch.js'
import { createSwrCache } from '../../gateway/resilience/swr-cache.js'
import { withTimeout } from '../../gateway/resilience/with-timeout.js'
import { readCard } from '../../gateway/transports/a2a/read-card.js'
import { listTools } from '../../gateway/transports/mcp/list-tools.js'
import type { AgentCredential } from './admission/agent-credential.js'
import { originOf } from './admission/target.js'

/**
 * What an agent can be asked to do: what its record says, else what its own card or list of tools says. The credential
 * lets the question in at an agent that tells only whom it knows. An agent that does not tell has what its record says.
 */
export type LearnOperations = (
  agent: { readonly record: AgentRecord },
  credential?: Pick<AgentCredential, 'headers' | 'origins'>,
) => Promise<readonly Operation[]>

export interface LearnDeps {
  /** Goes through the address guard. */
  readonly fetch: typeof fetch
  readonly now: () => number
  readonly newId: () => string
}

/** The first caller of an agent waits for it; those after it do not. */
const TIMEOUT_MS = 5000
/** Milliseconds, agents, and `maxSize` in characters of JSON: a hostile list of tools is larger than a thousand others. */
const REMEMBER = { freshMs: 300_000, usableMs: 86_400_000, failedMs: 60_000, limit: 2000, maxSize: 32 << 20 }

/** Learns what agents of A2A and MCP can do, and keeps it fresh behind the callers' backs. */
export function createLearnOperations({ fetch, now, newId }: LearnDeps): LearnOperations {
  const sendRequest = sendOverFetch(fetch)
  const learned = createSwrCache<readonly Operation[]>({
    ...REMEMBER,
    now,
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
    // Most records say it all, and each call comes this way.
    const endpoint = record.operations.every(({ inputs }) => isAnything(inputs))
      ? endpointsOf(record).find((each) => tells(each, record))
      : undefined
    if (!endpoint) return record.operations
    const headers = origins && !origins.has(originOf(endpoint.url)) ? {} : own
    try {
      const told = await learned.get(keyOf(endpoint, headers), () => learn(endpoint, headers))
      return merged(record.operations, told)
    } catch (error) {
      // Whatever keeps it from telling will be met by the call itself, which has the words for it.
      if (error instanceof GatewayError) return record.operations
      throw error
    }
  }
}

/** A list of tools has their schemas, which a record seldom has; a card only names its skills once more. */
function tells({ protocol }: Endpoint, { operations }: AgentRecord): boolean {
  return protocol === 'mcp' || (protocol === 'a2a' && operations.length === 0)
}

const isAnything = (schema: Operation['inputs']): boolean => Object.keys(schema).every((name) => name === 'type')

/** What the publisher listed is what may be called; of that, the agent's own word has the schemas. */
function merged(listed: readonly Operation[], told: readonly Operation[]): readonly Operation[] {
  if (listed.length === 0) return told
  const byName = new Map(told.map((operation) => [operation.name, operation]))
  return listed.map((operation) => {
    const { inputs, outputs } = byName.get(operation.name) ?? operation
    return { ...operation, inputs, outputs }
  })
}

/** What is told to one credential is not told to another. */
function keyOf({ protocol, url }: Endpoint, headers: Readonly<Record<string, string>>): string {
  return createHash('sha256')
    .update(JSON.stringify([protocol, url, Object.entries(headers).sort()]))
    .digest('base64')
}
