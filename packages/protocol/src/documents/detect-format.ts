import { isObject, type JsonObject } from '../json.js'
import { isOpenApi } from './openapi/is-openapi.js'
import type { DocumentFormat } from './record.js'

/** The format of a document, by members that only one draft has; `undefined` if no draft matches. */
export function detectFormat(document: JsonObject): DocumentFormat | undefined {
  // Registered as AIDIP metadata.
  if (isOpenApi(document)) return 'aidip'
  if (Array.isArray(document.bindings)) return 'profile'
  if (typeof document.base === 'string') return 'directory'
  if (Array.isArray(document.remotes) || Array.isArray(document.packages)) return 'mcp'
  if (isObject(document.capabilities) && Array.isArray(document.skills)) return 'a2a'
  if (document.endpoint !== undefined && Array.isArray(document.capabilities)) {
    return document.capabilities.every((item) => typeof item === 'string') ? 'aidip' : 'descriptor'
  }
  if (typeof document.name === 'string' && (document.capabilities !== undefined || document.url !== undefined))
    return 'descriptor'
  return undefined
}
