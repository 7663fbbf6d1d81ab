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

/** What a caller uses to prepare its calls. */
export interface CallSetup {
  readonly transports: Transports
  readonly models: InteractionModels
  readonly policy: AddressPolicy
  readonly credentials?: Credentials
}

/** A call that is ready to be sent, and the model of its messages. */
export interface PreparedCall {
  readonly call: Call
  readonly model: InteractionModel | undefined
  /** The input before the model converted it, to check against the capability's schema. */
  readonly input: CallInput | undefined
  readonly warnings: readonly string[]
}

/** Prepares a call from the resolved agent, the caller's input and the options. */
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
  const unknownModel =
    resolved.interactionModel !== undefined && !model
      ? [`the interaction model "${resolved.interactionModel}" is not in models: the input is sent unchanged`]
      : []
  return { call, model, input, warnings: [...resolved.warnings, ...unknownModel] }
}

/** Protocols whose messages are the input itself. */
const PLAIN = /^(https?|wss?|rest|json|http\+json|sse|ndjson|unix|local|matrix)$/i

const isPlain = ({ protocol, transport }: Endpoint): boolean => PLAIN.test(protocol) || protocol === transport

/** The most preferred endpoint with a supported transport. A protocol with its own messages needs a model. */
function chooseEndpoint({ uri, endpoints }: ResolvedAgent, { transports, models }: CallSetup): Endpoint {
  const supported = new Set(transports.names)
  const chosen = endpoints.find(
    (endpoint) => supported.has(endpoint.transport) && (isPlain(endpoint) || modelFor(models, endpoint.protocol)),
  )
  if (chosen) return chosen
  const [first] = endpoints
  // Throws an error that lists the transports, if the transport is what is missing.
  if (endpoints.length === 1 && first) transports.get(first.transport)
  const names = endpoints.map(({ transport, protocol }) =>
    transport === protocol ? transport : `${protocol} over ${transport}`,
  )
  // Without the query, which may contain secrets.
  const agent = uri.split('?')[0]
  throw new ClientError(
    'unsupported_transport',
    `${agent} supports only ${names.join(', ')}, which this client does not`,
  )
}

interface Target {
  readonly url: string
  readonly method: 'GET' | 'POST'
  /** The path of the URL names the operation. */
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
    // Without a descriptor, use the host, path and query of the URI (AURI §6.1); a fallback without input is a GET (C-57).
    const url = withQuery(endpoint.url, keptQuery(parseAgentUri(uri).query, given))
    return { url, method: fallback && given === undefined ? 'GET' : 'POST', isInPath: true }
  }
  // The messages of other protocols name the operation.
  if (!isPlain(endpoint)) return { url: endpoint.url, method: 'POST', isInPath: false }
  const own = ownEndpoint(capabilityDetails?.source)
  const url =
    own === undefined ? below(endpoint.url, capability) : checkAddress(new URL(own, endpoint.url).href, policy).href
  const asGet = wantsGet(capabilityDetails?.source) ? asQuery(url, input) : undefined
  return { url: asGet ?? url, method: asGet === undefined ? 'POST' : 'GET', isInPath: true }
}

/** The endpoint of a capability that has its own. */
const ownEndpoint = (source: JsonObject | undefined): string | undefined =>
  asString(source?.endpoint) ?? asString(source?.url)

const wantsGet = (source: JsonObject | undefined): boolean =>
  asString(source?.method ?? source?.httpMethod)?.toUpperCase() === 'GET'

/** Appends the capability to the path, as in an agent URI (C-85). */
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
  const requested = options.version ?? control.version
  // The descriptor has resolved a range to one version.
  const version = requested === undefined ? undefined : ((resolved.record && resolved.version) ?? requested)
  const chain = typeof delegationChain === 'function' ? await delegationChain({ uri, url }) : delegationChain
  return readIdentifiers(
    { ...given, ...(version !== undefined && { version }), ...(chain !== undefined && { delegationChain: chain }) },
    control,
  )
}
