import { type AgentRecord, IMPLIED_OPERATION } from '@switchboard/protocol'

/** Tags that go into the text of the whole agent; a longer list would drown the description. */
const MAX_TAGS = 8
/** The built-in model reads 128 tokens; what comes after has no effect. */
const MAX_TEXT_LENGTH = 2000
const MAX_PART_LENGTH = 600

/** What a match with an example counts: examples are short, and short texts are easily alike. */
const EXAMPLE_FACTOR = 0.8

/** What a text that is embedded tells of: the whole agent or one thing that it does. */
export type MeaningPart =
  | { readonly kind: 'agent' }
  | { readonly kind: 'operation' | 'capability'; readonly name: string }
  | { readonly kind: 'example'; readonly position: number }

export interface MeaningText {
  readonly part: MeaningPart
  readonly text: string
}

/**
 * The texts of an agent whose meanings are searched, each on its own: first the agent, then every operation,
 * capability that says more than its name, and example. A part carries the agent's name, without which "search" or
 * "get by id" would mean nothing.
 */
export function meaningTextsOf(record: AgentRecord): MeaningText[] {
  const agent = spaced(record.name)
  const whole = `${agent}: ${record.description} ${record.tags.slice(0, MAX_TAGS).join(', ')}`
  const operations = record.operations.filter(({ name }) => name !== IMPLIED_OPERATION)
  const names = new Set(operations.map(({ name }) => name))
  const capabilities = record.capabilities.filter(({ name, description }) => description && !names.has(name))
  const named = (kind: 'operation' | 'capability', { name, description }: { name: string; description?: string }) => ({
    part: { kind, name } as const,
    text: `${agent}: ${spaced(name)}. ${description ?? ''}`.slice(0, MAX_PART_LENGTH),
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

/** camelCase and snake_case in words, as a model of sentences expects them. */
const spaced = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ')

/** The cosine of a query with one part of an agent, as ranking takes it; an agent's best part counts. */
export const partSimilarity = ({ kind }: Pick<MeaningPart, 'kind'>, cosine: number): number =>
  kind === 'example' ? EXAMPLE_FACTOR * cosine : cosine
