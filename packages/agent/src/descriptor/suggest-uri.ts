import { asString, isObject, type JsonObject } from '@switchboard/protocol'

/**
 * The agent URI to hand out for a descriptor (AURI §6.3): with its transport where there is only one, as `agent://`
 * where the descriptor has to tell which. Undefined if it names no way that has a URI.
 */
export function suggestUri({ name, url, transport }: JsonObject): string | undefined {
  const ways = isObject(transport) ? Object.entries(transport) : []
  const [first] = ways
  const [word, target] = first ?? []
  if (word === 'local') return typeof name === 'string' ? `agent+local://${encodeURIComponent(name)}` : undefined
  if (word === 'unix') return typeof target === 'string' ? `agent+unix://${encodeURIComponent(target)}` : undefined
  const endpoint = asString(target) ?? asString(url)
  if (endpoint === undefined || !URL.canParse(endpoint)) return undefined
  const { host, pathname } = new URL(endpoint)
  const place = host + pathname.replace(/\/+$/, '')
  const scheme = /^([a-z]+):/i.exec(endpoint)?.[1]
  return ways.length > 1 ? `agent://${place}` : `agent+${scheme}://${place}`
}
