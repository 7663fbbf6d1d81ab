import { type AgentRecord, IMPLIED_OPERATION } from '@switchboard/protocol'
import { type AgentPart, type PartMatch, partSimilarity, sentencesOf, type TextEvidence } from '@switchboard/search'

/** Number of snippets: enough to judge a match, but short. */
const SHOWN_SNIPPETS = 3
const MAX_SNIPPET = 240
/** Characters of a description, and texts, that are looked at: publishers may write much more. */
const MAX_DESCRIPTION = 5000
const MAX_TEXTS = 300
/** Length of the prefix to compare: the index matches stems, so an inflected word differs only at its end. */
const STEM_LETTERS = 5

/**
 * The texts of an agent that match a query, those with most of its words first: sentences of the description, operations,
 * capabilities and examples. If none has a word of the query, the text that is most similar to it.
 *
 * @param record without private members
 */
export function snippetsOf(record: AgentRecord, { words, parts }: TextEvidence): string[] {
  const stems = words
    .flatMap(({ word, english }) => english?.split(' ') ?? word)
    .map((word) => word.toLowerCase().slice(0, STEM_LETTERS))
  const found = textsOf(record)
    .slice(0, MAX_TEXTS)
    .map((text) => ({ text, lower: text.toLowerCase() }))
    .map(({ text, lower }) => ({ text, hits: stems.filter((stem) => lower.includes(stem)).length }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .map(({ text }) => text)
  const shown = [...new Set(found)].slice(0, SHOWN_SNIPPETS)
  return shown.length > 0 ? shown : [textOf(record, nearestPart(parts)?.part ?? { kind: 'agent' })].filter(Boolean)
}

/** The part by which an agent is ranked: the most similar one, as ranking weighs it. */
export const nearestPart = (parts: readonly PartMatch[]): PartMatch | undefined =>
  parts.toSorted((a, b) => partSimilarity(b.part, b.similarity) - partSimilarity(a.part, a.similarity))[0]

/** The text of one part: an operation with its description, an example, or the first sentence about the agent. */
export function textOf(record: AgentRecord, part: AgentPart): string {
  switch (part.kind) {
    case 'agent':
      return shorten(sentencesOf(record.description.slice(0, MAX_DESCRIPTION))[0] ?? record.name)
    case 'example':
      return shorten(record.examples[part.position]?.text ?? '')
    case 'operation':
      return named(record.operations.find(({ name }) => name === part.name) ?? part)
    case 'capability':
      return named(record.capabilities.find(({ name }) => name === part.name) ?? part)
  }
}

const textsOf = ({ description, operations, capabilities, examples }: AgentRecord): string[] => [
  ...sentencesOf(description.slice(0, MAX_DESCRIPTION)).map(shorten),
  ...operations.filter(({ name }) => name !== IMPLIED_OPERATION).map(named),
  ...capabilities.map(named),
  ...examples.map(({ text }) => shorten(text)),
]

const named = ({ name, description }: { readonly name: string; readonly description?: string }): string =>
  shorten(description === undefined ? name : `${name}: ${description}`)

const shorten = (text: string): string => text.trim().slice(0, MAX_SNIPPET)
