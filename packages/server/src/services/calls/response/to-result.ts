import { buffer } from 'node:stream/consumers'
import { declaresMember, type JsonObject, type JsonValue, type Operation, type StreamPart } from '@switchboard/protocol'
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
 * X-Output-Valid, and a stream that the caller did not request is joined.
 */
export async function toResult(
  deps: CheckDeps,
  call: Pick<PreparedCall, 'operation' | 'record' | 'wantsStream'>,
  response: CompletedResponse,
): Promise<CompletedResult> {
  const { status } = response
  const headers = headersFor(call, response)
  switch (response.kind) {
    case 'json':
      return jsonResult(deps, call.operation, response.value, { status, headers })
    case 'bytes':
      return { kind: 'bytes', status, headers, contentType: response.contentType, body: response.body }
    case 'stream': {
      const parts = guardParts(response.parts)
      if (call.wantsStream) return { kind: 'stream', status, headers, parts }
      return jsonResult(deps, call.operation, await joinParts(parts, deps.maxResponseValues), { status, headers })
    }
  }
}

function headersFor(
  { record }: Pick<PreparedCall, 'record'>,
  { headers }: CompletedResponse,
): Readonly<Record<string, string>> {
  const { location, ...rest } = headers
  // The address of an agent whose document is redacted may be one of the hidden parts.
  return location === undefined || record.redacted ? rest : { ...rest, location }
}

function jsonResult(
  deps: CheckDeps,
  operation: Operation,
  value: JsonValue,
  { status, headers }: Pick<InvocationResult, 'status' | 'headers'>,
): CompletedResult {
  const isValid = checkOutput(deps, operation, value)
  return { kind: 'json', status, value, headers: isValid ? headers : { ...headers, 'x-output-valid': 'false' } }
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
async function* guardParts(parts: AsyncIterable<StreamPart>): AsyncGenerator<StreamPart> {
  try {
    for await (const part of parts) {
      if (part.event === 'error') throw fromErrorInside(part.data) ?? agentFailed('the agent reported an error midway')
      yield part
    }
  } catch (error) {
    throw fromGateway(error, {})
  }
}

/** A stream as one value: its only part, or the list of parts. */
async function joinParts(parts: AsyncIterable<StreamPart>, maxValues: number): Promise<JsonValue> {
  const joined: JsonValue[] = []
  const excessWith = createJoinedSize(maxValues)
  for await (const { data } of parts) {
    const allowed = excessWith(data)
    if (allowed !== undefined)
      throw agentFailed(`the response of the agent is too large: at most ${allowed} are allowed`)
    joined.push(data)
  }
  const [first] = joined
  return joined.length === 1 && first !== undefined ? first : joined
}
