import type { ReplyFrame, RequestLine, StreamPart } from '@switchboard/protocol'
import { ClientError } from '../../errors.js'
import type { Call, Reply } from '../call.js'
import { readProblem, toClientError } from '../problem.js'

/** The request frame for a call. */
export function requestFrame(id: string, call: Call, wantsStream: boolean): RequestLine {
  const { operation, input, identifiers, accept } = call
  if (input instanceof Uint8Array || input instanceof FormData) {
    throw new ClientError('invalid_argument', `${call.endpoint.transport} carries JSON only: send bytes over https`)
  }
  return {
    id,
    ...(operation !== undefined && { operation }),
    input: input ?? {},
    stream: wantsStream,
    ...identifiers,
    ...(accept.length > 0 && { accept: [...accept] }),
  }
}

type FrameOf<Kind extends ReplyFrame['kind']> = Extract<ReplyFrame, { kind: Kind }>

/** The ClientError for an error frame. */
export const toError = ({ problem }: FrameOf<'error'>): ClientError =>
  toClientError(readProblem(problem) ?? {}, { details: problem })

/** The stream part in a frame; a result counts as a stream of one part. */
export const toPart = (frame: FrameOf<'part' | 'result'>): StreamPart =>
  frame.kind === 'result'
    ? { data: frame.value }
    : { data: frame.data, ...(frame.event !== undefined && { event: frame.event }) }

/** The reply in the first frame of a response; an end without a result is null. */
export function toReply(frame: ReplyFrame, { identifiers }: Call): Reply {
  const { sessionId, taskId, requestId } = identifiers
  const output = frame.kind === 'result' ? frame.value : frame.kind === 'part' ? frame.data : null
  return {
    output,
    contentType: 'application/json',
    status: 200,
    trusted: false,
    ...(frame.kind === 'result' && frame.version !== undefined && { version: frame.version }),
    ...(sessionId !== undefined && { sessionId }),
    ...(taskId !== undefined && { taskId }),
    ...(requestId !== undefined && { requestId }),
    warnings: [],
  }
}
