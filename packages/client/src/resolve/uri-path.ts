import type { AgentUri } from '@switchboard/agent-uri'
import { ClientError } from '../errors.js'
import { type AddressPolicy, isLoopback } from './address-policy.js'

/** The whole segments of a path, as written; a slash at the end adds none. */
export function segmentsOf(path: string): string[] {
  const trimmed = path.replace(/\/+$/, '')
  return trimmed === '' ? [] : trimmed.slice(1).split('/')
}

/** A part of a URI as people write it; as it stands if it does not decode. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * The longest key that is a prefix of the path by whole segments, and the segments after it (C-85). A segment with an
 * encoded "/" is compared as written: decoded it could pass for two.
 */
export function longestKey(
  segments: readonly string[],
  has: (key: string) => boolean,
): { key: string; rest: readonly string[] } | undefined {
  const names = segments.map((segment) => (/%2f/i.test(segment) ? segment : decodePart(segment)))
  for (let length = names.length; length > 0; length--) {
    const key = names.slice(0, length).join('/')
    if (has(key)) return { key, rest: segments.slice(length) }
  }
  return undefined
}

/** The web origin that speaks for an authority: https, and with leave plain http to this machine. */
export function originOf({ host, port }: AgentUri, policy: AddressPolicy): string {
  const scheme = policy.httpLoopback && isLoopback(host) ? 'http' : 'https'
  const authority = port === null ? host : `${host}:${port}`
  const text = `${scheme}://${authority}`
  if (URL.canParse(text)) return new URL(text).origin
  throw new ClientError('invalid_uri', 'the host of this agent URI cannot be that of a web server')
}

/** HTTP clients fold "." and ".." away, so a path with them would be asked as another one. */
export function refuseDots(path: string): void {
  if (segmentsOf(path).some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) {
    throw new ClientError('invalid_uri', 'a path with "." or ".." cannot be asked over HTTP as it is written')
  }
}
