import { asString, asStrings, isObject, type JsonValue } from '../json.js'

/** How callers authenticate to an agent, in one form for all drafts (C-11). */
export interface Authentication {
  /** api_key, oauth2_bearer, mtls, none, or a type of the publisher's own. */
  type: string
  instructions?: string
  scopes?: string[]
  /** The type as the publisher wrote it. */
  schemes: string[]
}

const CANONICAL = new Map([
  ['apikey', 'api_key'],
  ['oauth2', 'oauth2_bearer'],
  ['oauth', 'oauth2_bearer'],
  ['bearer', 'oauth2_bearer'],
  ['oauth2bearer', 'oauth2_bearer'],
  ['mtls', 'mtls'],
  ['mutualtls', 'mtls'],
  ['none', 'none'],
])

/** The canonical form of a type: `API Key`, `api-key` and `apikey` are the same. Unknown types stay as they are. */
export function canonicalAuthenticationType(word: string): string {
  return CANONICAL.get(word.toLowerCase().replaceAll(/[\s_-]/g, '')) ?? word
}

/** Reads the string of AIDIP-00, the object of AIDIP-01, `{schemes}` of agent.json and the profile's `auth`. */
export function readAuthentication(value: JsonValue | undefined): Authentication | undefined {
  if (typeof value === 'string') return { type: canonicalAuthenticationType(value), schemes: [value] }
  if (!isObject(value)) return undefined
  const schemes = asStrings(value.schemes)
  const word = asString(value.type) ?? schemes[0]
  if (word === undefined) return undefined
  const instructions = asString(value.instructions)
  return {
    type: canonicalAuthenticationType(word),
    ...(instructions !== undefined && { instructions }),
    ...(Array.isArray(value.scopes) && { scopes: asStrings(value.scopes) }),
    schemes: schemes.length > 0 ? schemes : [word],
  }
}
