import type { JsonValue } from '@switchboard/protocol'
import type { CallInput } from '../transports/call.js'

/** How inputs and outputs are put into the messages of a model such as `agent2agent` or `fipa-acl` (AURI §7). */
export interface InteractionModel {
  toMessage(
    input: CallInput | undefined,
    about: { readonly operation?: string; readonly wantsStream: boolean },
  ): CallInput
  /** Of a whole answer, or of one part of a stream. */
  toOutput(message: JsonValue): JsonValue
}

/** Models by the descriptor's word for them, in lower case: an `interactionModel`, or the protocol of an endpoint. */
export type InteractionModels = Readonly<Record<string, InteractionModel>>

export function modelFor(models: InteractionModels, word: string | undefined): InteractionModel | undefined {
  const name = word?.toLowerCase()
  return name !== undefined && Object.hasOwn(models, name) ? models[name] : undefined
}
