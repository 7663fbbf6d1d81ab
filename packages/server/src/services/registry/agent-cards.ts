import {
  type AgentCardVersion,
  type AgentRecord,
  type CardKind,
  cardKindOf,
  DirectoryError,
  textOf,
  toAgentCard,
} from '@switchboard/protocol'
import { isCallable } from '../calls/admission/endpoints.js'
import type { Signing } from '../identity/signing.js'
import type { Catalog } from './catalog.js'
import type { Readable } from './read.js'

/** An A2A card as it is sent. */
export interface AgentCard {
  readonly kind: CardKind
  /** Name of the view; part of the entity tag. */
  readonly view: string
  readonly text: string
}

/** The A2A cards of agents. */
export interface AgentCards {
  /** Whether this directory answers A2A messages for the agent. */
  isAnswered(agent: Parameters<typeof isCallable>[0]): boolean
  /** The card of an agent; throws `not_found` with what there is instead if it has none. */
  of(readable: Readable, version: AgentCardVersion): Promise<AgentCard>
}

export interface AgentCardsOptions {
  readonly catalog: Pick<Catalog, 'facts'>
  readonly signing: Pick<Signing, 'signCard' | 'keyId'>
  readonly baseUrl: () => string
  /** Whether agents can be called through this directory. */
  readonly hasGateway: boolean
}

export function createAgentCards({ catalog, signing, baseUrl, hasGateway }: AgentCardsOptions): AgentCards {
  const isAnswered: AgentCards['isAnswered'] = (agent) => hasGateway && isCallable(agent, baseUrl)
  return {
    isAnswered,
    async of({ agent, record }, version) {
      const options = { version, isAnswered: isAnswered(agent) }
      const kind = cardKindOf(record, options)
      if (!kind) throw noCard(record, version, hasGateway)
      // Signatures by an earlier key are made again, because its public key is not published forever.
      const signer = kind === 'managed' ? `.${signing.keyId ?? ''}` : ''
      const view = `card.${kind}.${version}${signer}`
      const cacheKey = record.redacted ? `${view}.r` : view
      let text = agent.views.get(agent, cacheKey)
      if (text === undefined) {
        const card = toAgentCard(record, catalog.facts(agent), options) ?? {}
        const keySet = `${baseUrl()}/.well-known/jwks.json`
        text = textOf((kind === 'managed' ? await signing.signCard(card, keySet) : undefined) ?? card)
        agent.views.set(agent, cacheKey, text)
      }
      return { kind, view, text }
    },
  }
}

function noCard(record: AgentRecord, version: AgentCardVersion, hasGateway: boolean): DirectoryError {
  const path = `/agents/${encodeURIComponent(record.id)}`
  const documents = [path, `${path}/agent.json`, `/discover/agents/${encodeURIComponent(record.id)}`]
  const other = version === '0.3' && cardKindOf(record) !== undefined
  const own = record.bindings.find(({ protocol }) => /^a2a\b/i.test(protocol))
  const why = other
    ? 'it speaks A2A 1.0, not 0.3: read the card without version=0.3'
    : own
      ? `it speaks A2A, but its publisher does not say which binding and version: read its own card at ${own.endpoint}`
      : hasGateway
        ? 'it does not speak A2A, and this directory has no address at which it could call it'
        : 'it does not speak A2A, and this directory does not call agents, so nobody would answer'
  return new DirectoryError(
    'not_found',
    `the agent "${record.id}" has no A2A card: ${why}. Its other documents: ${documents.join(', ')}`,
    { members: { documents } },
  )
}
