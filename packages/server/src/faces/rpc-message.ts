import { DirectoryError, type JsonValue, parseJsonBody } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { takeBody } from './read-request.js'

/** The code of JSON-RPC for a body that is not JSON. */
const PARSE_ERROR = -32_700

/** The JSON-RPC message in a body, or what is wrong with it. */
export function readRpcMessage(request: FastifyRequest, maxValues: number): JsonValue | DirectoryError {
  try {
    const message = parseJsonBody(takeBody(request), { maxValues })
    return Array.isArray(message) ? new DirectoryError('invalid_request', 'send one message at a time') : message
  } catch (error) {
    if (error instanceof DirectoryError) return error
    throw error
  }
}

/** Says in JSON-RPC that a body cannot be read. */
export const sendParseError = (reply: FastifyReply, { message }: DirectoryError): FastifyReply =>
  reply.code(400).send({ jsonrpc: '2.0', id: null, error: { code: PARSE_ERROR, message } })
