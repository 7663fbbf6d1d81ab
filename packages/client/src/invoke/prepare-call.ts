import { formatAgentUri, parseAgentUri } from '@switchboard/agent-uri'
import { asString, type JsonObject } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { type AddressPolicy, checkAddress } from '../resolve/address-policy.js'
import type { Endpoint, ResolvedAgent } from '../resolve/resolved-agent.js'
import { type Call, type CallInput, DEFAULT_LIMITS } from '../transports/call.js'
import type { Credentials } from '../transports/credential.js'
import { type Identifiers, readIdentifiers } from '../transports/identifiers.js'
import type { Transports } from '../transports/transports.js'
import { asQuery, keptQuery, toInput, withQuery } from './call-input.js'
import { chooseCredential } from './choose-credential.js'
import { type InteractionModel, type InteractionModels, modelFor } from './interaction-model.js'
import type { CallOptions } from './options.js'

/** What a call is prepared with. */
export interface CallSetup {
  readonly transports: Transports
  readonly models: InteractionModels
  readonly policy: AddressPolicy
  readonly credentials?: Credentials
}

/** A call that is ready to be carried, and how its messages are shaped. */
export interface PreparedCall {
  readonly call: Call
  readonly model: InteractionModel | undefined
  /** The input before it was shaped, for the check against the capability's schema. */
  readonly input: CallInput | undefined
  readonly warnings: readonly string[]
}

/** Makes one call out of what was resolved, what the caller gives, and what the two together mean. */
export async function prepareCall(
  resolved: ResolvedAgent,
  given: CallInput | undefined,
  options: CallOptions,
  setup: CallSetup,
  wantsStream: boolean,
): Promise<PreparedCall> {
  const endpoint = chooseEndpoint(resolved, setup)
  const model = modelFor(setup.models, endpoint.protocol) ?? modelFor(setup.models, resolved.interactionModel)
  const input = toInput(resolved.params, given, resolved.capabilityDetails?.input)
  const { url, method, isInPath } = target(resolved, endpoint, given, input, setup)
  const parsed = parseAgentUri(resolved.uri)
  const uri = formatAgentUri({ ...parsed, query: null, fragment: null })
  const operation = resolved.capability
  const about = { ...(operation !== undefined && { operation }), wantsStream }
  const payload = method === 'GET' ? undefined : model ? model.toMessage(input, about) : (input ?? {})
  const { timeoutMs, silenceMs, waitMs, maxBytes, maxPartLength } = { ...DEFAULT_LIMITS, ...options }
  const { credential, renew } = await chooseCredential(resolved, endpoint, { uri, url }, setup.credentials)
  const call: Call = {
    uri,
    endpoint,
    url,
    method,
    input: payload,
    ...(operation !== undefined && !isInPath && { operation }),
    ...(options.contentType !== undefined && { contentType: options.contentType }),
    accept: options.accept === undefined ? [] : [options.accept].flat(),
    identifiers: await identifiersOf(resolved, options, uri, url),
    ...(credential && { credential }),
    ...(renew && { renewCredential: renew }),
    headers: { ...options.headers, ...(options.respondAsync && { prefer: 'respond-async' }) },
    limits: { timeoutMs, silenceMs, waitMs, maxBytes, maxPartLength },
    ...(options.signal && { signal: options.signal }),
    repeatable: method === 'GET' || resolved.capabilityDetails?.source?.idempotent === true,
  }
  const unshaped =
    resolved.interactionModel !== undefined && !model
      ? [`messages of the model "${resolved.interactionModel}" are not known here: the input is sent as it is`]
      : []
  return { call, model, input, warnings: [...resolved.warnings, ...unshaped] }
}

/** Protocols whose message is the input itself. */
const PLAIN = /^(https?|wss?|rest|json|http\+json|sse|ndjson|unix|local|matrix)$/i

const isPlain = ({ protocol, transport }: Endpoint): boolean => PLAIN.test(protocol) || protocol === transport

/** The most preferred endpoint that can be spoken to; a protocol with messages of its own needs its model. */
function chooseEndpoint({ uri, endpoints }: ResolvedAgent, { transports, models }: CallSetup): Endpoint {
  const spoken = new Set(transports.names)
  const chosen = endpoints.find(
    (endpoint) => spoken.has(endpoint.transport) && (isPlain(endpoint) || modelFor(models, endpoint.protocol)),
  )
  if (chosen) return chosen
  const [first] = endpoints
  // Says which transports there are, where that is what is missing.
  if (endpoints.length === 1 && first) transports.get(first.transport)
  const words = endpoints.map(({ transport, protocol }) =>
    transport === protocol ? transport : `${protocol} over ${transport}`,
  )
  throw new ClientError('unsupported_transport', `${uri} is reached by ${words.join(', ')}, which is not spoken here`)
}

interface Target {
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** The path of the URL says which operation is meant. */
  readonly isInPath: boolean
}

const HTTP = new Set(['https', 'http'])

function target(
  resolved: ResolvedAgent,
  endpoint: Endpoint,
  given: CallInput | undefined,
  input: CallInput | undefined,
  { policy }: CallSetup,
): Target {
  const { capability, capabilityDetails, record, fallback, uri } = resolved
  if (!HTTP.has(endpoint.transport)) return { url: endpoint.url, method: 'POST', isInPath: false }
  if (!record) {
    // The URI itself says where: same host, path and query (AURI §6.1). Nothing said POST, so a guess is a GET (C-57).
    const url = withQuery(endpoint.url, keptQuery(parseAgentUri(uri).query, given))
    return { url, method: fallback && given === undefined ? 'GET' : 'POST', isInPath: true }
  }
  // A protocol with messages of its own names the operation in them.
  if (!isPlain(endpoint)) return { url: endpoint.url, method: 'POST', isInPath: false }
  const own = ownEndpoint(capabilityDetails?.source)
  const url =
    own === undefined ? below(endpoint.url, capability) : checkAddress(new URL(own, endpoint.url).href, policy).href
  const asGet = wantsGet(capabilityDetails?.source) ? asQuery(url, input) : undefined
  return { url: asGet ?? url, method: asGet === undefined ? 'POST' : 'GET', isInPath: true }
}

/** A capability may have an address of its own. */
const ownEndpoint = (source: JsonObject | undefined): string | undefined =>
  asString(source?.endpoint) ?? asString(source?.url)

const wantsGet = (source: JsonObject | undefined): boolean =>
  asString(source?.method ?? source?.httpMethod)?.toUpperCase() === 'GET'

/** The capability as the last part of the path: what the path of an agent URI means, too (C-85). */
function below(endpoint: string, capability: string | undefined): string {
  if (capability === undefined) return endpoint
  const url = new URL(endpoint)
  const name = capability.split('/').map(encodeURIComponent).join('/')
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${name}`
  return url.href
}

async function identifiersOf(
  resolved: ResolvedAgent,
  options: CallOptions,
  uri: string,
  url: string,
): Promise<Identifiers> {
  const { control } = resolved
  const { version: _, delegationChain, ...given } = options
  const asked = options.version ?? control.version
  // The descriptor has resolved a range to one version.
  const version = asked === undefined ? undefined : ((resolved.record && resolved.version) ?? asked)
  const chain = typeof delegationChain === 'function' ? await delegationChain({ uri, url }) : delegationChain
  return readIdentifiers(
    { ...given, ...(version !== undefined && { version }), ...(chain !== undefined && { delegationChain: chain }) },
    control,
  )
}
