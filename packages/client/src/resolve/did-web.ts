import { parseIpAddress } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { type AddressPolicy, isLoopback } from './address-policy.js'

/**
 * Where the document of a `did:web` is: `did:web:h` at `/.well-known/did.json`, `did:web:h:a:b` at `/a/b/did.json`, and
 * a port as %3A behind the host (C-87).
 */
export function didWebUrl(did: string, policy: AddressPolicy = {}): string {
  const [host = '', ...path] = did.slice('did:web:'.length).split(':')
  const authority = host.replace(/%3A/i, ':')
  const scheme = policy.httpLoopback && isLoopback(authority.replace(/:\d*$/, '')) ? 'http' : 'https'
  if (!did.startsWith('did:web:') || !/^[a-z0-9._-]+(:\d+)?$/i.test(authority)) throw refused('names no host')
  // An address is nobody's name, and no certificate speaks for it (did:web §2.1); tests on this machine may use it.
  const name = authority.replace(/:\d+$/, '')
  if (parseIpAddress(name) && !isLoopback(name)) throw refused('names an IP address')
  if (path.some((segment) => segment === '' || /^(\.|%2e){1,2}$/i.test(segment))) throw refused('has an unusable path')
  const folder = path.length === 0 ? '.well-known' : path.join('/')
  const url = `${scheme}://${authority}/${folder}/did.json`
  if (!URL.canParse(url)) throw refused('names no host')
  return url
}

const refused = (problem: string): ClientError => new ClientError('invalid_uri', `the did:web ${problem}`)
