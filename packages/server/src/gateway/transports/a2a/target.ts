import { asString } from '@switchboard/protocol'
import type { Endpoint } from '../../gateway.js'

/** Where and how an A2A agent is spoken to. */
export interface A2aTarget {
  /** The generation of the protocol: 0.3 names methods `message/send`, 1.0 names them `SendMessage`. */
  readonly version: '0.3' | '1.0'
  readonly binding: 'jsonrpc' | 'http'
  readonly url: string
  readonly tenant?: string
}

/**
 * What the card said of this interface: 1.0 calls the binding `protocolBinding`, 0.3 calls it `transport`. Undefined
 * if it does not say, or names one that is not spoken here.
 */
export function targetOf({ url, source }: Pick<Endpoint, 'url' | 'source'>): A2aTarget | undefined {
  const named = asString(source?.protocolBinding) ?? asString(source?.transport)
  const binding = BINDINGS[named?.toUpperCase() ?? '']
  if (!binding) return undefined
  const told = asString(source?.protocolVersion)
  const isOld = told === undefined ? source?.protocolBinding === undefined : /^v?0\./.test(told)
  const tenant = asString(source?.tenant)
  return { version: isOld ? '0.3' : '1.0', binding, url, ...(tenant && { tenant }) }
}

const BINDINGS: Record<string, A2aTarget['binding'] | undefined> = {
  JSONRPC: 'jsonrpc',
  'JSON-RPC': 'jsonrpc',
  'HTTP+JSON': 'http',
  REST: 'http',
}

/** An address without the slashes at its end. Not by a regular expression, which a publisher could keep busy for minutes. */
export function withoutSlashes(address: string): string {
  let end = address.length
  while (address[end - 1] === '/') end--
  return address.slice(0, end)
}
