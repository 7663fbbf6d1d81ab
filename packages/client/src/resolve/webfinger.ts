import { type AgentUri, formatAgentUri } from '@switchboard/agent-uri'
import { asObjects, asString } from '@switchboard/protocol'
import type { Inquiry } from './inquiry.js'
import { originOf } from './uri-path.js'

/** Links that lead to the description of the agent: `describedby` (RFC 6892's registry), with a JSON type or none. */
const RELATION = 'describedby'

/** Asks WebFinger (RFC 7033) where the descriptor of an agent is; undefined if the host does not tell. */
export async function askWebFinger(uri: AgentUri, inquiry: Inquiry): Promise<string | undefined> {
  const resource = formatAgentUri({ ...uri, userinfo: null, query: null, fragment: null })
  const url = new URL('/.well-known/webfinger', originOf(uri, inquiry.policy))
  url.searchParams.set('resource', resource)
  url.searchParams.set('rel', RELATION)
  const found = await inquiry.askObject(url.href)
  const link = asObjects(found?.document.links).find(
    ({ rel, type, href }) => rel === RELATION && typeof href === 'string' && /json/.test(asString(type) ?? 'json'),
  )
  return asString(link?.href)
}
