import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { badAnswer } from './ask.js'

/** An error as JSON-RPC 2.0 tells it. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: JsonValue
}

export type RpcReply = { readonly result: JsonValue } | { readonly error: RpcError }

/** What comes on a stream beside the reply: something told, or something asked of us. */
export interface RpcNotice {
  readonly method: string
  readonly params: JsonObject
  /** There: the agent waits for a reply. */
  readonly id?: string | number
}

/** A message that is no reply; undefined if it is one. */
export function readNotice(value: JsonValue): RpcNotice | undefined {
  if (!isObject(value) || typeof value.method !== 'string') return undefined
  const { method, params, id } = value
  return {
    method,
    params: isObject(params) ? params : {},
    ...((typeof id === 'string' || typeof id === 'number') && { id }),
  }
}

/** The reply to the request of that id; anything else is no valid answer. */
export function readReply(value: JsonValue, id: string): RpcReply {
  if (!isObject(value) || value.jsonrpc !== '2.0') throw badAnswer('it is not a JSON-RPC 2.0 message')
  const error = readRpcError(value.error)
  // Who could not read the request does not know its id.
  if (value.id !== id && !(error && value.id === null)) throw badAnswer('its JSON-RPC id is not that of the request')
  if (error) return { error }
  if (value.result === undefined) throw badAnswer('its JSON-RPC message has neither result nor error')
  return { result: value.result }
}

export function readRpcError(value: JsonValue | undefined): RpcError | undefined {
  if (!isObject(value) || typeof value.code !== 'number') return undefined
  const message = typeof value.message === 'string' ? value.message : ''
  return { code: value.code, message, ...(value.data !== undefined && { data: value.data }) }
}
