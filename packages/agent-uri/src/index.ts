/**
 * Parses, formats and normalizes agent:// URIs (draft-narvaneni-agent-uri-01, section 4).
 *
 * @example
 * import { formatAgentUri, parseAgentUri } from '@switchboard/agent-uri'
 *
 * const uri = parseAgentUri('agent://did:web:example.com:agent:researcher/get-article?doi=10.1000/182')
 * uri.did // 'did:web:example.com:agent:researcher'
 * uri.path // '/get-article'
 * uri.params // { doi: '10.1000/182' }
 * formatAgentUri(uri) // 'agent://did%3Aweb%3Aexample.com%3Aagent%3Aresearcher/get-article?doi=10.1000/182'
 *
 * @module
 */
export { type ControlParam, type SortedParams, sortParams } from './control.js'
export { AgentUriError, type AgentUriErrorCode } from './error.js'
export {
  type AgentUriSpec,
  buildAgentUri,
  type FormatOptions,
  type FormattableUri,
  formatAgentUri,
  normalizeAgentUri,
} from './format.js'
export type { HostType } from './host.js'
export type { Params, WritableParams } from './params.js'
export { type AgentUri, parseAgentUri } from './parse.js'
