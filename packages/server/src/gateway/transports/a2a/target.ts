import { asString } from '@switchboard/protocol'
import type { Endpoint } from '../../gateway.js'

/** URL, version and binding of an A2A agent. */
export interface A2aTarget {
  /** 0.3 names methods like `message/send`, 1.0 like `SendMessage`. */
  readonly version: '0.3' | '1.0'
  readonly binding: 'jsonrpc' | 'http'
  readonly url: string
  readonly tenant?: string
}

/**
 * Reads the interface as its card describes it; the binding is `protocolBinding` in 1.0 and `transport` in 0.3.
 * Undefined if there is none, or one that the gateway does not speak.
 */
export function targetOf({ url, source }: Pick<Endpoint, 'url' | 'source'>): A2aTarget | undefined {
  const named = asString(source?.protocolBinding) ?? asString(source?.transport)
  const binding = BINDINGS[named?.toUpperCase() ?? '']
  if (!binding) return undefined
  const version = asString(source?.protocolVersion)
  const isOld = version === undefined ? source?.protocolBinding === undefined : /^v?0\./.test(version)
  const tenant = asString(source?.tenant)
  return { version: isOld ? '0.3' : '1.0', binding, url, ...(tenant && { tenant }) }
}

const BINDINGS: Record<string, A2aTarget['binding'] | undefined> = {
  JSONRPC: 'jsonrpc',
  'JSON-RPC': 'jsonrpc',
  'HTTP+JSON': 'http',
  REST: 'http',
}

/** Removes trailing slashes. Not with a regular expression, which takes quadratic time on a hostile URL. */
export function withoutTrailingSlashes(address: string): string {
  let end = address.length
  while (address[end - 1] === '/') end--
  return address.slice(0, end)
}
