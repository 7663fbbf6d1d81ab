import { asString, isObject, type JsonObject } from '@switchboard/protocol'
import { STATELESS_VERSION } from './versions.js'

/** Who we are, for servers of all versions. */
export const CLIENT_INFO = { name: 'switchboard', title: 'Switchboard gateway', version: '1.0.0' }

/** What a caller can do for a server that needs more input: the gateway passes such requests on to it. */
const CAPABILITIES = { elicitation: { form: {}, url: {} } }

/** The parameters of a request with what a handshake would have said. */
export function withEnvelope(params: JsonObject): JsonObject {
  return {
    ...params,
    _meta: {
      ...(isObject(params._meta) && params._meta),
      'io.modelcontextprotocol/protocolVersion': STATELESS_VERSION,
      'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
      'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
    },
  }
}

/** Headers that repeat parts of the body for intermediaries; a server rejects a request without them. */
export function statelessHeaders(method: string, params: JsonObject): Record<string, string> {
  const name = method === 'tools/call' ? asString(params.name) : undefined
  return { 'mcp-method': method, ...(name !== undefined && { 'mcp-name': headerValue(name) }) }
}

/** Text that a header cannot contain, or that looks encoded, is sent as base64 in `=?base64?…?=`. */
const headerValue = (text: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`
