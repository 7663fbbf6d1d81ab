import { asObjects, asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { AgentFailure } from '../rpc/agent-error.js'
import { type ContentItem, textOf, toJsonValue } from '../rpc/content.js'
import { failureOfTool } from './read-error.js'

/** What a tool gave back: its structured content as it is, else its content in the form of a plain agent. */
export function readToolResult(result: JsonObject): { value: JsonValue } | { failure: AgentFailure } {
  const items = asObjects(result.content).flatMap(readContent)
  if (result.isError === true) return { failure: failureOfTool(textOf(items)) }
  return { value: isObject(result.structuredContent) ? result.structuredContent : toJsonValue(items) }
}

function readContent(content: JsonObject): ContentItem[] {
  const { type, text, data, resource } = content
  if (type === 'text' && typeof text === 'string') return [{ kind: 'text', text }]
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return [{ kind: 'file', file: { ...told(content), bytes: data } }]
  }
  if (type === 'resource_link') return [{ kind: 'file', file: told(content) }]
  if (type === 'resource' && isObject(resource)) {
    const bytes = asString(resource.blob)
    const own = asString(resource.text)
    return [
      {
        kind: 'file',
        file: { ...told(resource), ...(bytes !== undefined && { bytes }), ...(own !== undefined && { text: own }) },
      },
    ]
  }
  return []
}

function told(source: JsonObject): JsonObject {
  const name = asString(source.name)
  const mimeType = asString(source.mimeType)
  const uri = asString(source.uri)
  return { ...(name && { name }), ...(mimeType && { mimeType }), ...(uri && { uri }) }
}
