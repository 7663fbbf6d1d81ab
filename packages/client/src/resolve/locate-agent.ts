import type { AgentUri } from '@switchboard/agent-uri'
import { schemeOf } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { checkAddress } from './address-policy.js'
import { findByDns } from './dns-hints.js'
import { type EndpointRules, explicitEndpoint, trustedEndpoint } from './explicit-endpoint.js'
import { findByDid, findOnHost, tryDescriptor } from './find-descriptor.js'
import type { FindKnown, KnownLocation } from './known-agents.js'
import type { ResolverOptions } from './options.js'
import { type Descriptor, readDescriptor } from './parse-descriptor.js'
import type { Resolution } from './resolution.js'
import type { Endpoint } from './resolved-agent.js'
import { originOf, rejectDotSegments, segmentsOf } from './uri-path.js'
import { findByWebFinger } from './webfinger.js'

/** Where an agent was found: its descriptor, an endpoint from a trusted source, or both. */
export interface Location {
  readonly descriptor?: Descriptor
  readonly endpoint?: Endpoint
  readonly name?: string
  /** Segments of the path after the agent's own. */
  readonly rest: readonly string[]
  readonly fallback?: boolean
}

export interface LocatorDeps {
  readonly options: ResolverOptions
  readonly rules: EndpointRules
  readonly findKnown: FindKnown
}

export type LocateAgent = (uri: AgentUri, resolution: Resolution) => Promise<Location>

/**
 * Finds an agent: in the caller's options, by the transport in the URI, where DNS says it is if enabled, in what the authority
 * publishes (AURI §6.2), by WebFinger if enabled, else at the fallback URL.
 */
export function createLocator({ options, rules, findKnown }: LocatorDeps): LocateAgent {
  const fromKnown = async (
    uri: AgentUri,
    { known, rest }: KnownLocation,
    resolution: Resolution,
  ): Promise<Location> => {
    const endpoint = known.endpoint === undefined ? undefined : trustedEndpoint(known.endpoint, rules)
    const { descriptor: given } = known
    if (given === undefined) {
      if (!endpoint)
        throw new ClientError(
          'invalid_argument',
          'an agent in static, or from a resolver, needs an endpoint or a descriptor',
        )
      return { endpoint, rest }
    }
    const descriptor =
      typeof given === 'string' ? await tryDescriptor(given, resolution) : readDescriptor(given, baseOf(uri))
    if (!descriptor) throw new ClientError('not_found', `${given} has no descriptor`)
    return { descriptor, rest, ...(endpoint && { endpoint }) }
  }

  /** The base of relative URLs in a document that the caller passed: the agent's host, which a DID does not have. */
  const baseOf = (uri: AgentUri): string => (uri.did === undefined ? originOf(uri, options) : 'about:blank')

  const fromUri = (uri: AgentUri): Location => {
    const endpoint = explicitEndpoint(uri, rules)
    // For local agents, the host is the name and the path the capability; for others, the path belongs to the endpoint.
    if (endpoint.transport !== 'local' && endpoint.transport !== 'unix') return { endpoint, rest: [] }
    return { endpoint, rest: segmentsOf(uri.path), ...(uri.socketPath === undefined && { name: uri.host }) }
  }

  const fromWebFinger = async (uri: AgentUri, resolution: Resolution): Promise<Location | undefined> => {
    const url = await findByWebFinger(uri, resolution)
    const descriptor = url === undefined ? undefined : await tryDescriptor(url, resolution)
    return descriptor && { descriptor, rest: segmentsOf(uri.path) }
  }

  const fallBack = (uri: AgentUri): Location => {
    if (options.allowFallback === false)
      throw new ClientError('not_found', `${uri.host} has no descriptor of the agent`)
    const { href } = checkAddress(`${originOf(uri, options)}${uri.path}`, options)
    const transport = schemeOf(href)
    return { endpoint: { transport, protocol: transport, url: href }, rest: [], fallback: true }
  }

  return async (uri, resolution) => {
    const fetchJson = async (url: string) => (await resolution.fetchObject(url))?.document
    const place = await resolution.deadline.race(findKnown(uri, { fetchJson, signal: resolution.deadline.signal }))
    if (place) return fromKnown(uri, place, resolution)
    if (uri.transport !== null) return fromUri(uri)
    if (uri.did !== undefined) return findByDid(uri.did, uri.path, resolution, options.didMethods ?? {})
    rejectDotSegments(uri.path)
    const found = (await findByDns(uri, resolution, options)) ?? (await findOnHost(uri, resolution))
    return found ?? (options.webfinger ? await fromWebFinger(uri, resolution) : undefined) ?? fallBack(uri)
  }
}
