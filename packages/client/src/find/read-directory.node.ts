import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestTls } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { isObject, parseJsonBody, readBytes } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import type { Advertisement } from './advertised.js'

/** What a directory offers to clients of the Agent Directory draft (AD §3.1). */
export interface DirectoryOffer {
  /** The path for registrations. */
  readonly registration: string
  /** The URI template for lookups. */
  readonly lookup: string
  readonly maxCount?: number
}

const MAX_BYTES = 64 * 1024

/** Reads what a directory says about itself. No credentials are sent, and no redirect is followed. */
export async function readDirectory(
  { url, path, addresses }: Advertisement,
  signal: AbortSignal,
): Promise<DirectoryOffer> {
  const target = new URL(url + path)
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { headers: { accept: 'application/json' }, agent: false, signal, ...lookupOf(addresses) }
    const send = target.protocol === 'https:' ? requestTls : requestPlain
    send(target, options).on('response', resolve).on('error', reject).end()
  })
  if (response.statusCode !== 200) {
    response.destroy()
    throw new ClientError('bad_response', `${target.href} returned status ${response.statusCode}`)
  }
  const tooLarge = () => new ClientError('too_large', `${target.href} has more than ${MAX_BYTES} bytes`)
  const document = parseJsonBody(await readBytes(response, MAX_BYTES, tooLarge))
  const { registration, lookup, max_count: maxCount } = isObject(document) ? document : {}
  if (typeof registration !== 'string' || typeof lookup !== 'string')
    throw new ClientError('bad_document', `${target.href} does not describe a directory`)
  return { registration, lookup, ...(typeof maxCount === 'number' && { maxCount }) }
}

/** Uses the addresses that multicast DNS said: the system's resolver may not know `.local` names. */
function lookupOf(addresses: readonly string[]): { lookup?: LookupFunction } {
  const list = addresses.map((address) => ({ address, family: isIP(address) }))
  const [first] = list
  if (!first) return {}
  return {
    lookup: (_host, options, callback) => {
      if (options.all) callback(null, list)
      else callback(null, first.address, first.family)
    },
  }
}
