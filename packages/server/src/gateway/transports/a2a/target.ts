import { a2aInterfaceOf, isA2aBefore1, type JsonObject } from '@switchboard/protocol'
import type { Endpoint } from '../../gateway.js'

/** URL, version and binding of an A2A agent. */
export interface A2aTarget {
  /** 0.3 names methods like `message/send`, 1.0 like `SendMessage`. */
  readonly version: '0.3' | '1.0'
  readonly binding: 'jsonrpc' | 'http'
  readonly url: string
  readonly tenant?: string
  /** What the agent's own card says, if it was read. */
  readonly card?: JsonObject
}

/** The interface as its card describes it. Undefined if there is none, or one that the gateway does not speak. */
export function targetOf({ url, source }: Pick<Endpoint, 'url' | 'source'>): A2aTarget | undefined {
  const described = a2aInterfaceOf({ protocol: 'a2a', endpoint: url, ...(source && { source }) })
  const binding = BINDINGS[described?.protocolBinding ?? '']
  if (!described || !binding) return undefined
  const { tenant } = described
  return { version: isA2aBefore1(described) ? '0.3' : '1.0', binding, url, ...(tenant && { tenant }) }
}

const BINDINGS: Record<string, A2aTarget['binding'] | undefined> = { JSONRPC: 'jsonrpc', 'HTTP+JSON': 'http' }

/** Removes trailing slashes. Not with a regular expression, which takes quadratic time on a hostile URL. */
export function withoutTrailingSlashes(address: string): string {
  let end = address.length
  while (address[end - 1] === '/') end--
  return address.slice(0, end)
}
