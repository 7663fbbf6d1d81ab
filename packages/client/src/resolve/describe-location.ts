import { type AgentUri, formatAgentUri } from '@switchboard/agent-uri'
import { asString } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { checkAddress } from './address-policy.js'
import { chooseCapability } from './choose-capability.js'
import { chooseVersion, isOfferedVersion, readRequestedVersion } from './choose-version.js'
import type { EndpointRules } from './explicit-endpoint.js'
import type { Location } from './locate-agent.js'
import type { ResolveRequest, ResolverOptions } from './options.js'
import type { Descriptor } from './parse-descriptor.js'
import { readEndpoints, rebaseEndpoints } from './read-endpoints.js'
import type { Resolution } from './resolution.js'
import type { Endpoint, ResolvedAgent, VerifiedSigner } from './resolved-agent.js'
import { originOf, segmentsOf } from './uri-path.js'
import { verifyDescriptor } from './verify-descriptor.js'

/** A URI to resolve, with the options and rules that apply. */
export interface ResolutionInput {
  readonly uri: AgentUri
  readonly request: ResolveRequest
  readonly options: ResolverOptions
  readonly rules: EndpointRules
}

/** Completes a resolution after the agent was found: verifies the signature, chooses version, capability and endpoints. */
export async function describeLocation(
  input: ResolutionInput,
  location: Location,
  resolution: Resolution,
): Promise<ResolvedAgent> {
  const { uri, request } = input
  const { descriptor, name, rest, fallback = false } = location
  const signer = await checkSigner(input, descriptor, resolution)
  for (const warning of descriptor?.warnings ?? []) resolution.warn(warning)

  const document = descriptor?.document ?? {}
  const pathVersion = isOfferedVersion(document, rest[0]) ? rest[0] : undefined
  const chosen = chooseCapability(uri, pathVersion === undefined ? rest : rest.slice(1), descriptor?.record)
  for (const warning of chosen.warnings) resolution.warn(warning)
  const requested = { option: request.version, query: chosen.control.version, path: pathVersion }
  const { version, base } = chooseVersion(document, readRequestedVersion(requested))

  const [first, ...others] = endpointsOf(input, location, base, resolution)
  if (!first) throw new ClientError('not_found', 'the agent has no endpoint')
  const agent = name ?? asString(document.name)
  const interactionModel = asString(document.interactionModel)
  return {
    uri: formatAgentUri({ ...uri, userinfo: null }),
    endpoint: first.url,
    endpoints: [first, ...others],
    fallback,
    params: chosen.params,
    control: chosen.control,
    warnings: resolution.warnings,
    requestedUrls: resolution.requestedUrls,
    ...(agent !== undefined && { agent }),
    ...(chosen.capability !== undefined && { capability: chosen.capability }),
    ...(chosen.capabilityDetails && { capabilityDetails: chosen.capabilityDetails }),
    ...(version !== undefined && { version }),
    ...(uri.fragment !== null && { fragment: uri.fragment }),
    ...(descriptor && { descriptor: document, record: descriptor.record }),
    ...(interactionModel !== undefined && { interactionModel }),
    ...(signer && { signer }),
  }
}

async function checkSigner(
  { uri, options }: ResolutionInput,
  descriptor: Descriptor | undefined,
  resolution: Resolution,
): Promise<VerifiedSigner | undefined> {
  if (descriptor) return verifyDescriptor(uri, descriptor, resolution, options)
  if (options.requireSignature)
    throw new ClientError('unsigned', 'the agent has no descriptor, and requireSignature needs a signed one')
  return undefined
}

function endpointsOf(
  input: ResolutionInput,
  location: Location,
  base: string | undefined,
  resolution: Resolution,
): Endpoint[] {
  const { descriptor, endpoint, rest } = location
  const { uri, rules } = input
  const endpoints = endpoint
    ? [endpoint]
    : descriptor
      ? readEndpoints(descriptor, () => defaultUrl(uri, rest, descriptor, rules), rules, resolution)
      : []
  return base === undefined ? endpoints : rebaseEndpoints(endpoints, base, rules)
}

/** The URL of an agent whose descriptor states none: the folder of the descriptor, else the host and path of the URI. */
function defaultUrl(uri: AgentUri, rest: readonly string[], { url }: Descriptor, { policy }: EndpointRules): string {
  const folder = /^(https?:\/\/.*?)(\/\.well-known)?\/agent(-card)?\.json$/.exec(url)?.[1]
  if (folder !== undefined || uri.did !== undefined) return checkAddress(folder ?? url, policy).href
  const segments = segmentsOf(uri.path)
  const path = segments.slice(0, segments.length - rest.length).map((segment) => `/${segment}`)
  return checkAddress(`${originOf(uri, policy)}${path.join('')}`, policy).href
}
