import { parseIpAddress } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { type AddressPolicy, isLoopback } from './address-policy.js'

/**
 * The URL of a `did:web` document: `/.well-known/did.json` for `did:web:host`, `/a/b/did.json` for `did:web:host:a:b`.
 * A port follows the host as `%3A8443` (C-87).
 */
export function didWebUrl(did: string, policy: AddressPolicy = {}): string {
  const [host = '', ...path] = did.slice('did:web:'.length).split(':')
  const authority = host.replace(/%3A/i, ':')
  const scheme = policy.httpLoopback && isLoopback(authority.replace(/:\d*$/, '')) ? 'http' : 'https'
  if (!did.startsWith('did:web:') || !/^[a-z0-9._-]+(:\d+)?$/i.test(authority)) throw invalidDid('has no valid host')
  // IP addresses are not allowed (did:web §2.1), except loopback in development.
  const name = authority.replace(/:\d+$/, '')
  if (parseIpAddress(name) && !isLoopback(name)) throw invalidDid('has an IP address instead of a host name')
  if (path.some((segment) => segment === '' || /^(\.|%2e){1,2}$/i.test(segment)))
    throw invalidDid('has an empty, "." or ".." path segment')
  const folder = path.length === 0 ? '.well-known' : path.join('/')
  const url = `${scheme}://${authority}/${folder}/did.json`
  if (!URL.canParse(url)) throw invalidDid('has no valid host')
  return url
}

const invalidDid = (problem: string): ClientError => new ClientError('invalid_uri', `the did:web ${problem}`)
