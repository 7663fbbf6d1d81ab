import { buffer } from 'node:stream/consumers'
import {
  declaresMember,
  eachPart,
  type JsonObject,
  type JsonValue,
  type Operation,
  type PartBatches,
  type StreamPart,
} from '@switchboard/protocol'
import type { AgentResponse } from '../../../gateway/gateway.js'
import type { PreparedCall } from '../admission/prepare-call.js'
import type { CallDeps } from '../call-deps.js'
import { agentFailed, fromErrorInside, fromGateway, invalidOutput } from './call-failed.js'
import type { InvocationResult } from './invocation-result.js'
import { createJoinedSize } from './joined-size.js'

type CompletedResponse = Exclude<AgentResponse, { kind: 'task' }>

/** A result that is not deferred. */
export type CompletedResult = Exclude<InvocationResult, { kind: 'task' }>

type CheckDeps = Pick<CallDeps, 'context' | 'strictOutputs' | 'maxResponseValues'>

/**
 * Turns the agent's response into what the caller gets: output is checked against its schema and marked by
 * X-Output-Valid, and a stream that the caller did not request is joined. A promise only of the latter.
 */
export function toResult(
  deps: CheckDeps,
  call: Pick<PreparedCall, 'operation' | 'record' | 'wantsStream'>,
  response: CompletedResponse,
): CompletedResult | Promise<CompletedResult> {
  const { status } = response
  const headers = headersFor(call, response)
  switch (response.kind) {
    case 'json':
      return jsonResult(deps, call.operation, response, { status, headers })
    case 'bytes':
      return { kind: 'bytes', status, headers, contentType: response.contentType, body: response.body }
    case 'stream': {
      const batches = guardParts(response.batches)
      if (call.wantsStream) return { kind: 'stream', status, headers, batches }
      return joinParts(batches, deps.maxResponseValues).then((value) =>
        jsonResult(deps, call.operation, { value }, { status, headers }),
      )
    }
  }
}

function headersFor(
  { record }: Pick<PreparedCall, 'record'>,
  { headers }: CompletedResponse,
): Readonly<Record<string, string>> {
  // The address of an agent whose document is redacted may be one of the hidden parts.
  if (headers.location === undefined || !record.redacted) return headers
  const { location: _, ...rest } = headers
  return rest
}

function jsonResult(
  deps: CheckDeps,
  operation: Operation,
  { value, text }: Pick<Extract<CompletedResult, { kind: 'json' }>, 'value' | 'text'>,
  { status, headers }: Pick<InvocationResult, 'status' | 'headers'>,
): CompletedResult {
  const isValid = checkOutput(deps, operation, value)
  return { kind: 'json', status, value, text, headers: isValid ? headers : { ...headers, 'x-output-valid': 'false' } }
}

/** Whether output matches its schema. An error object in place of the output is a failure (01 §5.2). */
function checkOutput({ context, strictOutputs }: CheckDeps, operation: Operation, value: JsonValue): boolean {
  const error = fromErrorInside(value)
  if (error && !declaresMember(operation.outputs, 'error')) throw error
  const isValid = context.schemas.check(operation.outputs, value).length === 0
  if (!isValid && strictOutputs) throw invalidOutput()
  return isValid
}

/** Binary output as JSON, for responses that cannot carry bytes. */
export async function bytesToJson({
  contentType,
  body,
}: Pick<Extract<InvocationResult, { kind: 'bytes' }>, 'contentType' | 'body'>): Promise<JsonObject> {
  return { contentType, contentEncoding: 'base64', data: (await buffer(body)).toString('base64') }
}

/** Whether the output of a result matched its schema. */
export const hasValidOutput = ({ headers }: Pick<InvocationResult, 'headers'>): boolean =>
  headers['x-output-valid'] !== 'false'

/** The parts of an agent's stream; errors, also those that the agent reports as a part, are thrown as CallFailed. */
async function* guardParts(batches: PartBatches): AsyncGenerator<readonly StreamPart[]> {
  try {
    for await (const batch of batches) {
      const reported = batch.findIndex(({ event }) => event === 'error')
      if (reported !== 0) yield reported < 0 ? batch : batch.slice(0, reported)
      const error = batch[reported]
      if (error) throw fromErrorInside(error.data) ?? agentFailed('the agent reported an error midway')
    }
  } catch (error) {
    throw fromGateway(error, {})
  }
}

/** A stream as one value: its only part, or the list of parts. */
async function joinParts(batches: PartBatches, maxValues: number): Promise<JsonValue> {
  const joined: JsonValue[] = []
  const excessWith = createJoinedSize(maxValues)
  for await (const { data } of eachPart(batches)) {
    const allowed = excessWith(data)
    if (allowed !== undefined)
      throw agentFailed(`the response of the agent is too large: at most ${allowed} are allowed`)
    joined.push(data)
  }
  const [first] = joined
  return joined.length === 1 && first !== undefined ? first : joined
}
