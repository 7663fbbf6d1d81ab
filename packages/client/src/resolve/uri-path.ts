import type { AgentUri } from '@switchboard/agent-uri'
import { ClientError } from '../errors.js'
import { type AddressPolicy, isLoopback } from './address-policy.js'

/** The segments of a path, not decoded; trailing slashes are ignored. */
export function segmentsOf(path: string): string[] {
  const trimmed = path.replace(/\/+$/, '')
  return trimmed === '' ? [] : trimmed.slice(1).split('/')
}

/** Decodes a segment; returns it unchanged if it is not valid. */
export function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * The longest key that is a prefix of the path by whole segments, and the segments after it (C-85). A segment with an
 * encoded "/" is compared without decoding, because it would match as two segments.
 */
export function longestKey(
  segments: readonly string[],
  has: (key: string) => boolean,
): { key: string; rest: readonly string[] } | undefined {
  const names = segments.map((segment) => (/%2f/i.test(segment) ? segment : decodeSegment(segment)))
  for (let length = names.length; length > 0; length--) {
    const key = names.slice(0, length).join('/')
    if (has(key)) return { key, rest: segments.slice(length) }
  }
  return undefined
}

/** The web origin of an authority: https, or http for this machine if the policy allows it. */
export function originOf({ host, port }: AgentUri, policy: AddressPolicy): string {
  const scheme = policy.httpLoopback && isLoopback(host) ? 'http' : 'https'
  const authority = port === null ? host : `${host}:${port}`
  const text = `${scheme}://${authority}`
  if (URL.canParse(text)) return new URL(text).origin
  throw new ClientError('invalid_uri', 'the host of the agent URI is not a valid host of a web server')
}

/** HTTP clients resolve "." and "..", so a path with them would become another path. */
export function rejectDotSegments(path: string): void {
  if (segmentsOf(path).some((segment) => /^(\.|%2e){1,2}$/i.test(segment))) {
    throw new ClientError('invalid_uri', 'the path must not have "." or ".." segments')
  }
}
