import { asString } from '../json.js'
import type { Binding } from './record.js'

/** An interface of an agent that speaks A2A, as a card of version 1.0 lists it. */
export interface A2aInterface {
  readonly url: string
  /** `JSONRPC`, `HTTP+JSON`, `GRPC`, or a name of the publisher's own. */
  readonly protocolBinding: string
  /** Major and minor version, such as `1.0`. */
  readonly protocolVersion: string
  readonly tenant?: string
}

/** Other names of the bindings. */
const BINDINGS: Partial<Record<string, string>> = { 'JSON-RPC': 'JSONRPC', REST: 'HTTP+JSON' }

/**
 * The A2A interface that a binding describes. Undefined if it is of another protocol, or if its publisher does not say which
 * binding and version of A2A it has: a client that guesses gets 404.
 */
export function a2aInterfaceOf({ protocol, endpoint, source }: Binding): A2aInterface | undefined {
  const name = /^a2a(?:\/v?(\d+\.\d+)|\b)/i.exec(protocol)
  if (!name) return undefined
  const [, suffix] = name
  // The binding is called `protocolBinding` in 1.0 and `transport` in 0.3, where JSON-RPC is the default.
  const current = asString(source?.protocolBinding)
  const named = (current ?? asString(source?.transport) ?? (suffix?.startsWith('0.') ? 'JSONRPC' : undefined))?.trim()
  if (!named) return undefined
  const stated = asString(source?.protocolVersion)
  const version = stated === undefined ? (suffix ?? (current === undefined ? '0.3' : '1.0')) : minorVersion(stated)
  const tenant = asString(source?.tenant)
  const upper = named.toUpperCase()
  return {
    url: endpoint,
    protocolBinding: BINDINGS[upper] ?? (KNOWN.has(upper) ? upper : named),
    protocolVersion: version,
    ...(tenant && { tenant }),
  }
}

const KNOWN: ReadonlySet<string> = new Set(['JSONRPC', 'HTTP+JSON', 'GRPC'])

/** `0.3.0` and `v0.3` are both `0.3`. */
const minorVersion = (version: string): string => /^v?(\d+\.\d+)/.exec(version)?.[1] ?? version

/** Whether an interface speaks a version before 1.0, which has other method names and another card. */
export const isA2aBefore1 = ({ protocolVersion }: A2aInterface): boolean => protocolVersion.startsWith('0.')
