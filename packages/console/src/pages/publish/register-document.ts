import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'
import { CONNECTION, fetchWithSession, requestJson } from '../../app/api.js'

/** A document as it is stored, and the entity tag that protects it from being overwritten by mistake. */
export interface Stored {
  readonly text: string
  readonly tag: string | undefined
}

/** Members that the directory adds to the publisher's document. */
const ADDED = ['verification', 'freshness', 'redacted', 'statistics', 'provenance']

/** Reads one of the caller's agents to edit it, in the format in which it was registered. */
export async function readStored(id: string, format: string, signal: AbortSignal): Promise<Stored> {
  const name = encodeURIComponent(id)
  const path = format === 'profile' ? `/discover/agents/${name}` : `/agents/${name}`
  const response = await fetchWithSession(CONNECTION.baseUrl + path, { signal })
  const body: JsonValue = await response.json()
  if (!response.ok || !isObject(body)) throw new Error(isObject(body) ? String(body.message) : response.statusText)
  const document = Object.fromEntries(Object.entries(body).filter(([member]) => !ADDED.includes(member)))
  return { text: JSON.stringify(document, null, 2), tag: response.headers.get('etag') ?? undefined }
}

/** Registers a document at the path for its format; returns the id of the agent. */
export async function registerDocument(
  document: JsonObject,
  { format, id, tag }: { readonly format: string; readonly id: string; readonly tag: string | undefined },
): Promise<string> {
  const headers = tag === undefined ? {} : { 'if-match': tag }
  if (format === 'directory') {
    await requestJson(`/ad/r?${new URLSearchParams({ agent: id })}`, { method: 'POST', body: document, headers })
    return id
  }
  if (format === 'descriptor') {
    // The drafts have no registration for descriptors: the client sends them as metadata of the profile.
    const { createClient } = await import('@switchboard/client')
    return (await createClient(CONNECTION).register(document, { id, format })).id
  }
  const path = format === 'profile' ? '/discover/agents' : '/agents'
  const registered = await requestJson(path, { method: 'POST', body: document, headers })
  return isObject(registered) && typeof registered.id === 'string' ? registered.id : id
}
