import type { StreamPart } from '@switchboard/protocol'
import { CallFailed, fromErrorInside, fromGateway } from './call-failed.js'

/** An agent's stream as callers get it: failures in our words, and an error that is told in it thrown. */
export async function* guardParts(parts: AsyncIterable<StreamPart>): AsyncGenerator<StreamPart> {
  try {
    for await (const part of parts) {
      if (part.event === 'error') throw fromErrorInside(part.data) ?? errorOf('the agent failed within its answer')
      yield part
    }
  } catch (error) {
    throw fromGateway(error, {})
  }
}

export const errorOf = (message: string): CallFailed => new CallFailed('agent_error', message, { mayHaveRun: true })

export const doesNotFit = (): CallFailed => errorOf('the agent gave an answer that does not fit its own schema')
