import type { JsonValue } from '@switchboard/protocol'
import type { CallInput } from '../transports/call.js'

/** Converts inputs and outputs to the messages of a model such as `agent2agent` or `fipa-acl` (AURI §7). */
export interface InteractionModel {
  toMessage(
    input: CallInput | undefined,
    about: { readonly operation?: string; readonly wantsStream: boolean },
  ): CallInput
  /** The output in a response, or in one part of a stream. */
  toOutput(message: JsonValue): JsonValue
}

/** Models by name, in lower case: the `interactionModel` of a descriptor, or the protocol of an endpoint. */
export type InteractionModels = Readonly<Record<string, InteractionModel>>

export function modelFor(models: InteractionModels, name: string | undefined): InteractionModel | undefined {
  const key = name?.toLowerCase()
  return key !== undefined && Object.hasOwn(models, key) ? models[key] : undefined
}
