import { asObjects, asString, asStrings, isObject, type JsonObject, type JsonValue } from '../json.js'
import type { Binding, DocumentFormat } from './record.js'

/** The bindings of an agent, from the members of any draft (C-18), most preferred first (C-19). */
export function readBindings(format: DocumentFormat, document: JsonObject): Binding[] {
  const own = ownBindings(format, document)
  // A document may have the bindings of another draft too: both count, duplicates once.
  const listed = format === 'profile' ? [] : listedBindings(document)
  const isListed = (a: Binding): boolean => listed.some((b) => a.protocol === b.protocol && a.endpoint === b.endpoint)
  return [...own.filter((binding) => !isListed(binding)), ...listed].sort(byPriority)
}

function ownBindings(format: DocumentFormat, document: JsonObject): Binding[] {
  switch (format) {
    case 'aidip':
      return endpointBinding(document.endpoint)
    case 'profile':
      return listedBindings(document)
    case 'directory':
      return directoryBindings(document)
    case 'descriptor':
      return descriptorBindings(document)
    case 'a2a':
      return cardBindings(document)
    case 'mcp':
      return mcpBindings(document)
  }
}

/** By ascending priority; bindings without a priority last, in their order. */
const byPriority = (a: Binding, b: Binding): number => {
  const [x, y] = [a.priority ?? Number.POSITIVE_INFINITY, b.priority ?? Number.POSITIVE_INFINITY]
  return x === y ? 0 : x - y
}

function listedBindings(document: JsonObject): Binding[] {
  return asObjects(document.bindings).flatMap((source) => {
    const protocol = asString(source.protocol)
    const endpoint = asString(source.endpoint)
    if (!protocol || !endpoint) return []
    return [
      { protocol, endpoint, source, ...(Number.isInteger(source.priority) && { priority: Number(source.priority) }) },
    ]
  })
}

function endpointBinding(endpoint: JsonValue | undefined): Binding[] {
  return typeof endpoint === 'string' && endpoint !== '' ? [{ protocol: schemeOf(endpoint), endpoint }] : []
}

function directoryBindings(document: JsonObject): Binding[] {
  const base = asString(document.base)
  if (!base) return []
  const protocols = asStrings(document.protocols).filter((protocol) => protocol !== '')
  return (protocols.length > 0 ? protocols : [schemeOf(base)]).map((protocol) => ({ protocol, endpoint: base }))
}

function descriptorBindings(document: JsonObject): Binding[] {
  const transports = isObject(document.transport) ? Object.entries(document.transport) : []
  return [
    ...endpointBinding(document.endpoint),
    ...transports.flatMap(([protocol, target]) => {
      const endpoint =
        typeof target === 'string' ? target : isObject(target) ? asString(target.endpoint ?? target.url) : undefined
      return endpoint ? [{ protocol: protocol || schemeOf(endpoint), endpoint }] : []
    }),
    // The `url` of a document that is an A2A card too is its A2A interface.
    ...(typeof document.preferredTransport === 'string' ? mainBinding(document) : endpointBinding(document.url)),
  ]
}

function cardBindings(document: JsonObject): Binding[] {
  const preferred = mainBinding(document)
  const listed = [...asObjects(document.supportedInterfaces), ...asObjects(document.additionalInterfaces)]
  const interfaces = listed.flatMap((source) => {
    const endpoint = asString(source.url)
    return endpoint ? [{ protocol: 'a2a', endpoint, source }] : []
  })
  return [...preferred, ...interfaces.filter(({ endpoint }) => endpoint !== preferred[0]?.endpoint)]
}

/** The main URL of a 0.3 card; its transport is `preferredTransport`, JSON-RPC by default. */
function mainBinding({ url, preferredTransport, protocolVersion }: JsonObject): Binding[] {
  const endpoint = asString(url)
  if (!endpoint) return []
  const source = {
    url: endpoint,
    transport: asString(preferredTransport) ?? 'JSONRPC',
    protocolVersion: asString(protocolVersion) ?? '0.3.0',
  }
  return [{ protocol: 'a2a', endpoint, source }]
}

function mcpBindings(document: JsonObject): Binding[] {
  const remotes = asObjects(document.remotes).flatMap((source) => {
    const endpoint = asString(source.url)
    return endpoint ? [{ protocol: 'mcp', endpoint, source }] : []
  })
  const packages = asObjects(document.packages).flatMap((source) => {
    const identifier = asString(source.identifier)
    if (!identifier) return []
    // A package is run, not called: its package URL identifies it.
    const type = asString(source.registryType) || 'generic'
    const version = asString(source.version)
    return [{ protocol: 'mcp', endpoint: packageUrl(type, identifier, version), source }]
  })
  return [...remotes, ...packages]
}

function packageUrl(type: string, identifier: string, version: string | undefined): string {
  const encode = (text: string): string =>
    encodeURIComponent(text.toWellFormed()).replaceAll('%2F', '/').replaceAll('%40', '@')
  return `pkg:${encode(type)}/${encode(identifier)}${version ? `@${encode(version)}` : ''}`
}

/** The scheme of an absolute URL; `https` for a path, which this directory serves. */
export function schemeOf(endpoint: string): string {
  return /^([a-z][a-z0-9+.-]*):/i.exec(endpoint)?.[1]?.toLowerCase() ?? 'https'
}
