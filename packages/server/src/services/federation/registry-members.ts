import { DIRECTORY_META, isObject, type JsonObject } from '@switchboard/protocol'

/** Members of views that a directory says itself, and not the publisher. */
const REGISTRY_MEMBERS: ReadonlySet<string> = new Set([
  ...['verification', 'redacted', 'freshness', 'expires_at', 'origin_service', 'provenance'],
  ...['agent', 'lt', 'href'],
  ...['score', 'score_components', 'matched_tags', 'expanded_tags', 'matched_examples', 'matched_words', 'snippets'],
])

/** The publisher's part of a view, for a copy: what the directory says about it is kept apart. */
export function withoutRegistryMembers(view: JsonObject): JsonObject {
  const own = Object.fromEntries(Object.entries(view).filter(([name]) => !REGISTRY_MEMBERS.has(name)))
  if (!isObject(own._meta) || !Object.hasOwn(own._meta, DIRECTORY_META)) return own
  const { [DIRECTORY_META]: _added, ...meta } = own._meta
  const { _meta, ...rest } = own
  return Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest
}
