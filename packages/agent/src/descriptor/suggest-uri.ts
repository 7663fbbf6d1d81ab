import { asString, isObject, type JsonObject } from '@switchboard/protocol'

/**
 * The agent URI to publish for a descriptor (AURI §6.3). It names the transport if there is only one; with several it is
 * an `agent://` URI, and the descriptor lists them. Undefined if no transport of the descriptor can be written as a URI.
 */
export function suggestUri({ name, url, transport }: JsonObject): string | undefined {
  const transports = isObject(transport) ? Object.entries(transport) : []
  const [first] = transports
  const [word, target] = first ?? []
  if (word === 'local') return typeof name === 'string' ? `agent+local://${encodeURIComponent(name)}` : undefined
  if (word === 'unix') return typeof target === 'string' ? `agent+unix://${encodeURIComponent(target)}` : undefined
  const endpoint = asString(target) ?? asString(url)
  if (endpoint === undefined || !URL.canParse(endpoint)) return undefined
  const { host, pathname } = new URL(endpoint)
  const place = host + pathname.replace(/\/+$/, '')
  const scheme = /^([a-z]+):/i.exec(endpoint)?.[1]
  return transports.length > 1 ? `agent://${place}` : `agent+${scheme}://${place}`
}
