import { asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { didWebUrl } from './did-web.js'
import type { Inquiry } from './inquiry.js'
import type { DidMethod } from './options.js'

/** Services of one document that are looked at. */
const MAX_SERVICES = 50

/**
 * The document of a DID, by did:web or a method that the caller brought (C-87).
 *
 * @throws {ClientError} `unsupported_method`, `not_found`, or `bad_document` if it is another DID's
 */
export async function resolveDid(
  did: string,
  inquiry: Inquiry,
  methods: Readonly<Record<string, DidMethod>>,
): Promise<JsonObject> {
  const document = await askMethod(did, inquiry, methods)
  if (!document) throw new ClientError('not_found', `there is no document of ${did}`)
  if (document.id !== did) {
    throw new ClientError('bad_document', `the document of ${did} says it is another's: /id must be the DID`)
  }
  return document
}

async function askMethod(
  did: string,
  inquiry: Inquiry,
  methods: Readonly<Record<string, DidMethod>>,
): Promise<JsonObject | undefined> {
  const name = did.split(':')[1] ?? ''
  const ask = async (url: string): Promise<JsonObject | undefined> => (await inquiry.askObject(url))?.document
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (method) return inquiry.deadline.race(method(did, { ask, signal: inquiry.deadline.signal }))
  if (name === 'web') return ask(didWebUrl(did, inquiry.policy))
  throw new ClientError('unsupported_method', `agents cannot be found by did:${name} here`)
}

/**
 * URLs at which a DID's agent may be described, the most explicit service first: AgentDescriptor is the document
 * itself, AgentService the agent's folder or document, LinkedDomains a host with the well-known names (C-87).
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

/** A document with more of them is not followed to its end. */
const MAX_URLS = 8

const WELL_KNOWN = ['/.well-known/agent.json', '/.well-known/agent-card.json']

const typesOf = ({ type }: JsonObject): JsonValue[] => [type ?? null].flat()

/** An endpoint is a URL, a list of them, or an object that holds some (DID Core §5.4, Linked Domains). */
function urlsOf(endpoint: JsonValue | undefined): string[] {
  if (typeof endpoint === 'string') return [endpoint]
  if (Array.isArray(endpoint)) return endpoint.slice(0, MAX_URLS).flatMap(urlsOf)
  if (!isObject(endpoint)) return []
  const { uri, url, origins } = endpoint
  return [asString(uri) ?? asString(url) ?? [], Array.isArray(origins) ? urlsOf(origins) : []].flat()
}
