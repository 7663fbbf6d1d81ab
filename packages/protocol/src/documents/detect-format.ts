import { isObject, type JsonObject } from '../json.js'
import type { DocumentFormat } from './record.js'

/** Which draft a document speaks, by the members that only one of them has; undefined if none fits. */
export function detectFormat(document: JsonObject): DocumentFormat | undefined {
  if (Array.isArray(document.bindings)) return 'profile'
  if (typeof document.base === 'string') return 'directory'
  if (Array.isArray(document.remotes) || Array.isArray(document.packages)) return 'mcp'
  if (isObject(document.capabilities) && Array.isArray(document.skills)) return 'a2a'
  if (typeof document.endpoint === 'string' && Array.isArray(document.capabilities)) {
    return document.capabilities.every((item) => typeof item === 'string') ? 'aidip' : 'descriptor'
  }
  if (typeof document.name === 'string' && (document.capabilities !== undefined || document.url !== undefined))
    return 'descriptor'
  return undefined
}
