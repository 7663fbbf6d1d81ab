import { type AgentRecord, IMPLIED_OPERATION } from '@switchboard/protocol'

/** Tags included in the text of the whole agent; more would outweigh the description. */
const MAX_TAGS = 8
/** In characters. The built-in model reads 128 tokens and ignores the rest. */
const MAX_TEXT_LENGTH = 2000
const MAX_PART_LENGTH = 600

/** Factor for similarity to an example: examples are short, and short texts are easily similar. */
const EXAMPLE_FACTOR = 0.8

/** The part of an agent that an embedded text describes. */
export type AgentPart =
  | { readonly kind: 'agent' }
  | { readonly kind: 'operation' | 'capability'; readonly name: string }
  | { readonly kind: 'example'; readonly position: number }

/** A text to embed. */
export interface EmbeddingText {
  readonly part: AgentPart
  readonly text: string
}

/**
 * The texts of an agent that are embedded, each on its own: the agent as a whole, then every operation, every
 * capability that has a description, and every example. Operations and capabilities are prefixed with the agent's name,
 * because "search" or "get by id" alone means nothing.
 */
export function embeddingTextsOf(record: AgentRecord): EmbeddingText[] {
  const agent = splitIdentifier(record.name)
  const whole = `${agent}: ${record.description} ${record.tags.slice(0, MAX_TAGS).join(', ')}`
  const operations = record.operations.filter(({ name }) => name !== IMPLIED_OPERATION)
  const names = new Set(operations.map(({ name }) => name))
  const capabilities = record.capabilities.filter(({ name, description }) => description && !names.has(name))
  const named = (kind: 'operation' | 'capability', { name, description }: { name: string; description?: string }) => ({
    part: { kind, name } as const,
    text: `${agent}: ${splitIdentifier(name)}. ${description ?? ''}`.slice(0, MAX_PART_LENGTH),
  })
  return [
    { part: { kind: 'agent' }, text: whole.slice(0, MAX_TEXT_LENGTH) },
    ...operations.map((operation) => named('operation', operation)),
    ...capabilities.map((capability) => named('capability', capability)),
    ...record.examples.map(({ text }, position) => ({
      part: { kind: 'example', position } as const,
      text: text.slice(0, MAX_PART_LENGTH),
    })),
  ]
}

/** Splits camelCase, snake_case and kebab-case into words, which a sentence encoder expects. */
const splitIdentifier = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ')

/** The cosine between a query and one part of an agent, weighted by the kind of part. */
export const partSimilarity = ({ kind }: Pick<AgentPart, 'kind'>, cosine: number): number =>
  kind === 'example' ? EXAMPLE_FACTOR * cosine : cosine
