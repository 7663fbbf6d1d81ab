import type { AgentRecord } from '@switchboard/protocol'
import { embeddingTextsOf } from './ranking/embedding-texts.js'
import { type TextFields, textFieldsOf } from './words/text-fields.js'

/** All of an agent that text search reads. Plain strings, so that it can be sent to another thread. */
export interface AgentText {
  readonly name: string
  readonly description: string
  readonly fields: TextFields
  /** The texts of `embeddingTextsOf`, in their order. */
  readonly embedded: readonly string[]
  /** Position of the first example in `embedded`; those after it are examples too. */
  readonly firstExample: number
  /** The languages that the agent declares; undefined: any. */
  readonly languages: readonly string[] | undefined
}

/** @param record without private members: a hit would reveal their content */
export function agentTextOf(record: AgentRecord): AgentText {
  const embedded = embeddingTextsOf(record).map(({ text }) => text)
  return {
    name: record.name,
    description: record.description,
    fields: textFieldsOf(record),
    embedded,
    firstExample: embedded.length - record.examples.length,
    languages: record.languages,
  }
}
