import { type AgentUri, formatAgentUri } from '@switchboard/agent-uri'
import { asString } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { checkAddress } from './address-policy.js'
import { chooseCapability } from './choose-capability.js'
import { chooseVersion, isOfferedVersion, readAskedVersion } from './choose-version.js'
import type { EndpointRules } from './explicit-binding.js'
import type { Inquiry } from './inquiry.js'
import type { Location } from './locate-agent.js'
import type { ResolveRequest, ResolverOptions } from './options.js'
import type { Descriptor } from './parse-descriptor.js'
import { readEndpoints, rebaseEndpoints } from './read-endpoints.js'
import type { Endpoint, ResolvedAgent, VerifiedSigner } from './resolved-agent.js'
import { originOf, segmentsOf } from './uri-path.js'
import { verifyDescriptor } from './verify-descriptor.js'

/** One resolution: who is asked for, with what wishes, and under which rules. */
export interface Question {
  readonly uri: AgentUri
  readonly request: ResolveRequest
  readonly options: ResolverOptions
  readonly rules: EndpointRules
}

/** Answers a resolution once the agent is found: who signed for it, its version, its capability and its endpoints. */
export async function describeLocation(
  question: Question,
  location: Location,
  inquiry: Inquiry,
): Promise<ResolvedAgent> {
  const { uri, request } = question
  const { descriptor, name, rest, fallback = false } = location
  const signer = await checkSigner(question, descriptor, inquiry)
  for (const warning of descriptor?.warnings ?? []) inquiry.warn(warning)

  const document = descriptor?.document ?? {}
  const path = isOfferedVersion(document, rest[0]) ? rest[0] : undefined
  const chosen = chooseCapability(uri, path === undefined ? rest : rest.slice(1), descriptor?.record)
  for (const warning of chosen.warnings) inquiry.warn(warning)
  const wanted = readAskedVersion({ option: request.version, query: chosen.control.version, path })
  const { version, base } = chooseVersion(document, wanted)

  const [first, ...others] = endpointsOf(question, location, base, inquiry)
  if (!first) throw new ClientError('not_found', 'the agent names no endpoint')
  const agent = name ?? asString(document.name)
  const interactionModel = asString(document.interactionModel)
  return {
    uri: formatAgentUri({ ...uri, userinfo: null }),
    endpoint: first.url,
    endpoints: [first, ...others],
    fallback,
    params: chosen.params,
    control: chosen.control,
    warnings: inquiry.warnings,
    asked: inquiry.asked,
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
  { uri, options }: Question,
  descriptor: Descriptor | undefined,
  inquiry: Inquiry,
): Promise<VerifiedSigner | undefined> {
  if (descriptor) return verifyDescriptor(uri, descriptor, inquiry, options)
  if (options.requireSignature) throw new ClientError('unsigned', 'the agent has no descriptor that could be signed')
  return undefined
}

function endpointsOf(question: Question, location: Location, base: string | undefined, inquiry: Inquiry): Endpoint[] {
  const { descriptor, endpoint, rest } = location
  const { uri, rules } = question
  const endpoints = endpoint
    ? [endpoint]
    : descriptor
      ? readEndpoints(descriptor, () => homeOf(uri, rest, descriptor, rules), rules, inquiry)
      : []
  return base === undefined ? endpoints : rebaseEndpoints(endpoints, base, rules)
}

/** Where an agent without hints lives: the folder of its descriptor, else the host and path that the URI names. */
function homeOf(uri: AgentUri, rest: readonly string[], { url }: Descriptor, { policy }: EndpointRules): string {
  const folder = /^(https?:\/\/.*?)(\/\.well-known)?\/agent(-card)?\.json$/.exec(url)?.[1]
  if (folder !== undefined || uri.did !== undefined) return checkAddress(folder ?? url, policy).href
  const segments = segmentsOf(uri.path)
  const path = segments.slice(0, segments.length - rest.length).map((segment) => `/${segment}`)
  return checkAddress(`${originOf(uri, policy)}${path.join('')}`, policy).href
}
