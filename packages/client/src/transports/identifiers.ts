import { agree, DirectoryError, isRequestId, readIdempotencyKey } from '@switchboard/protocol'
import { ClientError } from '../errors.js'

/** What belongs to a call besides its input: headers where there are headers, members of the envelope elsewhere (AURI §8.1). */
export interface Identifiers {
  readonly sessionId?: string
  readonly taskId?: string
  /** The version of the agent to call. */
  readonly version?: string
  /** One value for client, agent and support (C-74): letters, digits and `_.:-`, at most 128. */
  readonly requestId?: string
  /** The agent does the work once, however often it is called with this key (C-61). */
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

/** Throws for an id that the far side would replace with another: nobody could search for it (C-74). */
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
