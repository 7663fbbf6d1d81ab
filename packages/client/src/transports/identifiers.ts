import { DirectoryError } from '@switchboard/protocol/errors'
import { agree, isRequestId, readIdempotencyKey } from '@switchboard/protocol/http'
import { ClientError } from '../errors.js'

/** Metadata of a call: sent as headers, or as members of the envelope by transports without headers (AURI §8.1). */
export interface Identifiers {
  readonly sessionId?: string
  readonly taskId?: string
  /** The version of the agent to call. */
  readonly version?: string
  /** Correlates the logs of client, directory and agent (C-74): at most 128 letters, digits and `_.:-`. */
  readonly requestId?: string
  /** With the same key the agent does the work only once, however often it is called (C-61). */
  readonly idempotencyKey?: string
  /** Signed hops, comma-separated (C-65). */
  readonly delegationChain?: string
}

/**
 * The identifiers of a call from its options, and from the parameters of its URI if there are any.
 *
 * @throws {ClientError} `invalid_argument` for identifiers that the agent or directory would reject or replace
 */
export function readIdentifiers(
  options: Identifiers,
  control: Pick<Identifiers, 'sessionId' | 'taskId'> = {},
): Identifiers {
  const { version, requestId, delegationChain } = options
  checkRequestId(requestId)
  return asArgument(() => {
    const sessionId = agree('sessionId', [options.sessionId, control.sessionId])
    const taskId = agree('taskId', [options.taskId, control.taskId])
    const idempotencyKey = readIdempotencyKey(options.idempotencyKey)
    return {
      ...(sessionId !== undefined && { sessionId }),
      ...(taskId !== undefined && { taskId }),
      ...(version !== undefined && { version }),
      ...(requestId !== undefined && { requestId }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(delegationChain !== undefined && { delegationChain }),
    }
  })
}

/** Throws for an id that the server would replace, which would make it useless for correlation (C-74). */
export function checkRequestId(requestId: string | undefined): void {
  if (requestId === undefined || isRequestId(requestId)) return
  throw new ClientError('invalid_argument', 'requestId must be 1 to 128 letters, digits and characters of "_.:-"')
}

function asArgument<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof DirectoryError)) throw cause
    throw new ClientError('invalid_argument', cause.message, { cause })
  }
}
