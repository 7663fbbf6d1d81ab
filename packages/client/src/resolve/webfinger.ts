import { type AgentUri, formatAgentUri } from '@switchboard/agent-uri'
import { asObjects, asString } from '@switchboard/protocol'
import type { Resolution } from './resolution.js'
import { originOf } from './uri-path.js'

/** The relation of links to a descriptor, with a JSON type or none. */
const RELATION = 'describedby'

/** The URL of an agent's descriptor, from WebFinger (RFC 7033); undefined if the host does not state one. */
export async function findByWebFinger(uri: AgentUri, resolution: Resolution): Promise<string | undefined> {
  const resource = formatAgentUri({ ...uri, userinfo: null, query: null, fragment: null })
  const url = new URL('/.well-known/webfinger', originOf(uri, resolution.policy))
  url.searchParams.set('resource', resource)
  url.searchParams.set('rel', RELATION)
  const found = await resolution.fetchObject(url.href)
  const link = asObjects(found?.document.links).find(
    ({ rel, type, href }) => rel === RELATION && typeof href === 'string' && /json/.test(asString(type) ?? 'json'),
  )
  return asString(link?.href)
}
