import type { JsonObject } from '@switchboard/protocol'

/** Members of views that a directory says itself, and not the publisher. */
const REGISTRY_MEMBERS: ReadonlySet<string> = new Set([
  ...['verification', 'redacted', 'freshness', 'expires_at', 'origin_service', 'provenance'],
  ...['agent', 'lt', 'href'],
  ...['score', 'score_components', 'matched_tags', 'expanded_tags', 'matched_examples', 'matched_words', 'snippets'],
])

/** The publisher's part of a view, for a copy: what the directory says about it is kept apart. */
export const withoutRegistryMembers = (view: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(view).filter(([name]) => !REGISTRY_MEMBERS.has(name)))
