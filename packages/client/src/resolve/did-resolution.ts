import { asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { didWebUrl } from './did-web.js'
import type { DidMethod } from './options.js'
import type { Resolution } from './resolution.js'

/** Services of a document that are read. */
const MAX_SERVICES = 50

/**
 * Resolves a DID with did:web or one of the caller's methods (C-87).
 *
 * @throws {ClientError} `unsupported_method`, `not_found`, or `bad_document` if the document is of another DID
 */
export async function resolveDid(
  did: string,
  resolution: Resolution,
  methods: Readonly<Record<string, DidMethod>>,
): Promise<JsonObject> {
  const document = await runMethod(did, resolution, methods)
  if (!document) throw new ClientError('not_found', `${did} has no document`)
  if (document.id !== did) {
    throw new ClientError('bad_document', `the document of ${did} belongs to another DID: its /id must be the same`)
  }
  return document
}

async function runMethod(
  did: string,
  resolution: Resolution,
  methods: Readonly<Record<string, DidMethod>>,
): Promise<JsonObject | undefined> {
  const name = did.split(':')[1] ?? ''
  const fetchJson = async (url: string) => (await resolution.fetchObject(url))?.document
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (method) return resolution.deadline.race(method(did, { fetchJson, signal: resolution.deadline.signal }))
  if (name === 'web') return fetchJson(didWebUrl(did, resolution.policy))
  throw new ClientError('unsupported_method', `did:${name} is not supported: add the method to didMethods`)
}

/**
 * URLs at which the descriptor of a DID's agent may be, the most specific service first: AgentDescriptor is its URL,
 * AgentService its URL or folder, LinkedDomains a host with well-known paths (C-87).
 */
export function descriptorUrls(document: JsonObject): string[] {
  const services = (Array.isArray(document.service) ? document.service : []).filter(isObject).slice(0, MAX_SERVICES)
  const ofType = (type: string): string[] =>
    services
      .filter((service) => typesOf(service).includes(type))
      .flatMap(({ serviceEndpoint }) => urlsOf(serviceEndpoint))
  return [
    ...ofType('AgentDescriptor'),
    ...ofType('AgentService').map((url) => (/\.json($|\?)/.test(url) ? url : `${url.replace(/\/$/, '')}/agent.json`)),
    ...ofType('LinkedDomains').flatMap((url) =>
      WELL_KNOWN.flatMap((name) => (URL.canParse(name, url) ? [new URL(name, url).href] : [])),
    ),
  ].slice(0, MAX_URLS)
}

/** URLs of a document that are tried. */
const MAX_URLS = 8

const WELL_KNOWN = ['/.well-known/agent.json', '/.well-known/agent-card.json']

const typesOf = ({ type }: JsonObject): JsonValue[] => [type ?? null].flat()

/** A service endpoint is a URL, a list of endpoints, or an object with URLs (DID Core §5.4, Linked Domains). */
function urlsOf(endpoint: JsonValue | undefined): string[] {
  if (typeof endpoint === 'string') return [endpoint]
  if (Array.isArray(endpoint)) return endpoint.slice(0, MAX_URLS).flatMap(urlsOf)
  if (!isObject(endpoint)) return []
  const { uri, url, origins } = endpoint
  return [asString(uri) ?? asString(url) ?? [], Array.isArray(origins) ? urlsOf(origins) : []].flat()
}
