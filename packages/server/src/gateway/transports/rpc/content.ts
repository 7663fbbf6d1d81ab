import type { JsonObject, JsonValue } from '@switchboard/protocol'

/** One item of an agent's output, independent of A2A and MCP. */
export type ContentItem =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly data: JsonValue }
  /** `uri`, or `bytes` in base64; `name` and `mimeType` if known. */
  | { readonly kind: 'file'; readonly file: JsonObject }

/**
 * Combines the items into one JSON value, as a plain HTTP agent would return it: a single data item as it is, text as
 * `{"text": …}`, and mixed items as an object with a member for each kind.
 */
export function toJsonValue(items: readonly ContentItem[]): JsonValue {
  const texts = items.flatMap((item) => (item.kind === 'text' ? [item.text] : []))
  const data = items.flatMap((item) => (item.kind === 'data' ? [item.data] : []))
  const files = items.flatMap((item) => (item.kind === 'file' ? [item.file] : []))
  const [first] = data
  if (first !== undefined && items.length === 1) return first
  return {
    ...(texts.length > 0 && { text: texts.join('\n') }),
    ...(first !== undefined && { data: data.length === 1 ? first : data }),
    ...(files.length > 0 && { files }),
  }
}

/** The text of the items, for error messages. */
export function textOf(items: readonly ContentItem[]): string {
  return items.flatMap((item) => (item.kind === 'text' ? [item.text] : [])).join('\n')
}
