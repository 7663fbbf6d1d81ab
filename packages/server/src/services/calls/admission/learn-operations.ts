import { createHash } from 'node:crypto'
import { type AgentRecord, acceptsAnything, mergeOperations, type Operation } from '@switchboard/protocol'
import { GatewayError } from '../../../gateway/gateway.js'
import { createSwrCache } from '../../../gateway/resilience/swr-cache.js'
import { withTimeout } from '../../../gateway/resilience/with-timeout.js'
import { type OperationSource, operationSource } from '../../learning/operation-source.js'
import type { ReadOperations } from '../../learning/read-operations.js'
import type { AgentCredential } from './choose-credential.js'
import { originOf } from './endpoints.js'

/** An agent as a caller sees it. */
export interface CalledAgent {
  /** What the publisher says, with the operations that the caller may see. */
  readonly published: AgentRecord
  /** The operations of its views. */
  readonly known: readonly Operation[]
  /** Whether operations are hidden from the caller: those must not be learned either. */
  readonly isRestricted: boolean
}

/**
 * The operations that a call can be for. The agent itself is asked if its publisher does not describe them: it may have
 * changed, or may show more to the caller's credential, which authenticates that request. If it fails, the operations are
 * those of the agent's views.
 */
export type LearnOperations = (
  agent: CalledAgent,
  credential?: Pick<AgentCredential, 'headers' | 'origins' | 'variables'>,
) => readonly Operation[] | Promise<readonly Operation[]>

export interface LearnDeps {
  readonly read: ReadOperations
  readonly monotonic: () => number
  /** Called with the agent's id if strangers get another list than the one in its views. */
  readonly onOutdated?: (id: string) => void
}

/** Milliseconds; only the first caller of an agent waits. */
const TIMEOUT_MS = 5000
/** `limit` in agents, `maxSize` in characters of JSON: a hostile list of tools can be larger than a thousand others. */
const CACHE = { freshMs: 300_000, usableMs: 86_400_000, failedMs: 60_000, limit: 2000, maxSize: 32 << 20 }

/** Reads the operations of A2A and MCP agents, through a stale-while-revalidate cache. */
export function createLearnOperations({ read, monotonic, onOutdated }: LearnDeps): LearnOperations {
  const learned = createSwrCache<readonly Operation[]>({
    ...CACHE,
    monotonic,
    size: (operations) => JSON.stringify(operations).length,
  })

  const learn = async (
    { published, known, isRestricted }: CalledAgent,
    credential: Pick<AgentCredential, 'headers' | 'origins' | 'variables'>,
    source: OperationSource,
  ): Promise<readonly Operation[]> => {
    const { headers: own, origins } = credential
    const headers = origins && !origins.has(originOf(source.url)) ? {} : own
    try {
      const operations = await learned.get(keyOf(source, headers), () =>
        withTimeout(TIMEOUT_MS, (signal) => read(source, headers, signal)),
      )
      const merged = mergeOperations(
        published.operations,
        { source: source.kind, operations, isComplete: true },
        isRestricted,
      )
      const isStranger = Object.keys(headers).length === 0 && credential.variables === undefined
      if (!isRestricted && isStranger && !hasSameNames(merged, known)) onOutdated?.(published.id)
      return merged
    } catch (error) {
      // The call will fail for the same reason, with an error for the caller.
      if (error instanceof GatewayError) return known
      throw error
    }
  }

  return (agent, credential = { headers: {} }) => {
    const { published, known } = agent
    // Every call passes here, and most documents already have their schemas.
    const source = published.operations.every(({ inputs }) => acceptsAnything(inputs))
      ? operationSource(published, credential)
      : undefined
    return source && describesMore(source, published) ? learn(agent, credential, source) : known
  }
}

/** A list of tools has schemas, which a document seldom has; a card only repeats the names of its skills. */
const describesMore = ({ kind }: OperationSource, { operations }: AgentRecord): boolean =>
  kind === 'mcp' || (kind === 'a2a' && operations.length === 0)

const hasSameNames = (a: readonly Operation[], b: readonly Operation[]): boolean =>
  a.length === b.length && a.every(({ name }, i) => name === b[i]?.name)

/** An agent may describe different operations to different credentials. */
function keyOf({ kind, url, headers: asked }: OperationSource, headers: Readonly<Record<string, string>>): string {
  return createHash('sha256')
    .update(JSON.stringify([kind, url, Object.entries({ ...asked, ...headers }).sort()]))
    .digest('base64')
}
