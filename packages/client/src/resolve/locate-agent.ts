import type { AgentUri } from '@switchboard/agent-uri'
import { schemeOf } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { checkAddress } from './address-policy.js'
import { bindExplicitly, type EndpointRules, trustedEndpoint } from './explicit-binding.js'
import { findByDid, findOnHost, tryDescriptor } from './find-descriptor.js'
import type { Inquiry } from './inquiry.js'
import type { FindKnown, KnownPlace } from './known-agents.js'
import type { ResolverOptions } from './options.js'
import { type Descriptor, readDescriptor } from './parse-descriptor.js'
import type { Endpoint } from './resolved-agent.js'
import { originOf, refuseDots, segmentsOf } from './uri-path.js'
import { askWebFinger } from './webfinger.js'

/** Where an agent is: described by itself, or an endpoint that somebody vouches for, or both. */
export interface Location {
  readonly descriptor?: Descriptor
  readonly endpoint?: Endpoint
  readonly name?: string
  /** Segments of the path that are the agent's to read. */
  readonly rest: readonly string[]
  readonly fallback?: boolean
}

export interface LocatorParts {
  readonly options: ResolverOptions
  readonly rules: EndpointRules
  readonly findKnown: FindKnown
}

export type LocateAgent = (uri: AgentUri, inquiry: Inquiry) => Promise<Location>

/**
 * Finds out where an agent is. What the caller knows comes first, then what the URI itself says by its transport, then
 * what the authority publishes (AURI §6.2), then WebFinger where it is wanted, then the guess.
 */
export function createLocator({ options, rules, findKnown }: LocatorParts): LocateAgent {
  const fromKnown = async (uri: AgentUri, { known, rest }: KnownPlace, inquiry: Inquiry): Promise<Location> => {
    const endpoint = known.endpoint === undefined ? undefined : trustedEndpoint(known.endpoint, rules)
    const { descriptor: told } = known
    if (told === undefined) {
      if (!endpoint) throw new ClientError('invalid_argument', 'a known agent needs an endpoint or a descriptor')
      return { endpoint, rest }
    }
    const descriptor = typeof told === 'string' ? await tryDescriptor(told, inquiry) : readDescriptor(told, baseOf(uri))
    if (!descriptor) throw new ClientError('not_found', `there is no descriptor at ${told}`)
    return { descriptor, rest, ...(endpoint && { endpoint }) }
  }

  /** Relative addresses of a document that came from no URL are relative to the agent's host; a DID has none. */
  const baseOf = (uri: AgentUri): string => (uri.did === undefined ? originOf(uri, options) : 'about:blank')

  const fromUri = (uri: AgentUri): Location => {
    const endpoint = bindExplicitly(uri, rules)
    // Of a local agent the host is the name and the path what it shall do; elsewhere the endpoint has the path.
    if (endpoint.transport !== 'local' && endpoint.transport !== 'unix') return { endpoint, rest: [] }
    return { endpoint, rest: segmentsOf(uri.path), ...(uri.socketPath === undefined && { name: uri.host }) }
  }

  const fromWebFinger = async (uri: AgentUri, inquiry: Inquiry): Promise<Location | undefined> => {
    const url = await askWebFinger(uri, inquiry)
    const descriptor = url === undefined ? undefined : await tryDescriptor(url, inquiry)
    return descriptor && { descriptor, rest: segmentsOf(uri.path) }
  }

  const guess = (uri: AgentUri): Location => {
    if (options.allowFallback === false) throw new ClientError('not_found', 'nothing on this host describes the agent')
    const { href } = checkAddress(`${originOf(uri, options)}${uri.path}`, options)
    const transport = schemeOf(href)
    return { endpoint: { transport, protocol: transport, url: href }, rest: [], fallback: true }
  }

  return async (uri, inquiry) => {
    const ask = async (url: string) => (await inquiry.askObject(url))?.document
    const place = await inquiry.deadline.race(findKnown(uri, { ask, signal: inquiry.deadline.signal }))
    if (place) return fromKnown(uri, place, inquiry)
    if (uri.transport !== null) return fromUri(uri)
    if (uri.did !== undefined) return findByDid(uri.did, uri.path, inquiry, options.didMethods ?? {})
    refuseDots(uri.path)
    const found = await findOnHost(uri, inquiry)
    return found ?? (options.webfinger ? await fromWebFinger(uri, inquiry) : undefined) ?? guess(uri)
  }
}
