import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { badResponse } from './send-json.js'

/** An error object of JSON-RPC 2.0. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: JsonValue
}

/** A response object of JSON-RPC 2.0. */
export type RpcReply = { readonly result: JsonValue } | { readonly error: RpcError }

/** A request that the other side sends to us; without an `id` it is a notification. */
export interface RpcRequest {
  readonly method: string
  readonly params: JsonObject
  readonly id?: string | number
}

/** Name and HTTP status of an error, as callers see it. */
export interface ErrorKind {
  readonly status: number
  readonly name: string
}

/** The errors that JSON-RPC 2.0 itself defines. */
export const RPC_ERRORS: Readonly<Record<number, ErrorKind | undefined>> = {
  [-32700]: { status: 400, name: 'InvalidInput' },
  [-32600]: { status: 400, name: 'InvalidInput' },
  [-32601]: { status: 501, name: 'UnsupportedOperation' },
  [-32602]: { status: 400, name: 'InvalidInput' },
}

/** The kind of any other error. */
export const UNKNOWN_ERROR: ErrorKind = { status: 500, name: 'AgentError' }

/** Reads a request or notification; `undefined` for any other message. */
export function readRpcRequest(value: JsonValue): RpcRequest | undefined {
  if (!isObject(value) || typeof value.method !== 'string') return undefined
  const { method, params, id } = value
  return {
    method,
    params: isObject(params) ? params : {},
    ...((typeof id === 'string' || typeof id === 'number') && { id }),
  }
}

/** Reads the response to the request with this id; throws `bad_response` for anything else. */
export function readReply(value: JsonValue, id: string): RpcReply {
  if (!isObject(value) || value.jsonrpc !== '2.0') throw badResponse('it is not a JSON-RPC 2.0 message')
  const error = readRpcError(value.error)
  // If the agent could not parse the request, the id of its error is null.
  if (value.id !== id && !(error && value.id === null)) throw badResponse('its JSON-RPC id is not that of the request')
  if (error) return { error }
  if (value.result === undefined) throw badResponse('its JSON-RPC message has neither result nor error')
  return { result: value.result }
}

export function readRpcError(value: JsonValue | undefined): RpcError | undefined {
  if (!isObject(value) || typeof value.code !== 'number') return undefined
  const message = typeof value.message === 'string' ? value.message : ''
  return { code: value.code, message, ...(value.data !== undefined && { data: value.data }) }
}
