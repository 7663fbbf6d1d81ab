import type { JsonObject, JsonValue } from '@switchboard/protocol'

/** A piece of what an agent says, in the words of neither A2A nor MCP. */
export type ContentItem =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'data'; readonly data: JsonValue }
  /** `uri`, or `bytes` in base64; `name` and `mimeType` where told. */
  | { readonly kind: 'file'; readonly file: JsonObject }

/**
 * The pieces as one JSON value, the shape that a plain agent would answer with: data alone as it is, text alone as
 * `{"text": …}`, and a mixture with a member for each kind.
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

/** The text in it, for an error's message. */
export function textOf(items: readonly ContentItem[]): string {
  return items.flatMap((item) => (item.kind === 'text' ? [item.text] : [])).join('\n')
}
