import { isLoopbackHost, parseIpAddress } from '../addresses.js'
import { SigningError } from './signing-error.js'

/**
 * The URL of a `did:web` document: `/.well-known/did.json` for `did:web:host`, `/a/b/did.json` for `did:web:host:a:b`.
 * A port follows the host as `%3A8443` (C-87).
 *
 * @param options `httpLoopback`: without TLS on this machine, for development
 * @throws {SigningError} `malformed`
 */
export function didWebUrl(did: string, { httpLoopback = false }: { httpLoopback?: boolean | undefined } = {}): string {
  const [host = '', ...path] = did.slice('did:web:'.length).split(':')
  const authority = host.replace(/%3A/i, ':')
  if (!did.startsWith('did:web:') || !/^[a-z0-9._-]+(:\d+)?$/i.test(authority)) throw malformed('has no valid host')
  const name = authority.replace(/:\d+$/, '')
  const isLoopback = isLoopbackHost(name)
  // IP addresses are not allowed (did:web §2.1), except loopback in development.
  if (parseIpAddress(name) && !isLoopback) throw malformed('has an IP address instead of a host name')
  if (path.some((segment) => segment === '' || /^(\.|%2e){1,2}$/i.test(segment)))
    throw malformed('has an empty, "." or ".." path segment')
  const folder = path.length === 0 ? '.well-known' : path.join('/')
  const url = `${httpLoopback && isLoopback ? 'http' : 'https'}://${authority}/${folder}/did.json`
  if (!URL.canParse(url)) throw malformed('has no valid host')
  return url
}

const malformed = (problem: string): SigningError => new SigningError('malformed', `the did:web ${problem}`)
