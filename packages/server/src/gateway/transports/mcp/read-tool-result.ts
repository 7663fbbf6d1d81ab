import { asObjects, asString, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { AgentFailure } from '../rpc/agent-failure.js'
import { type ContentItem, textOf, toJsonValue } from '../rpc/content.js'
import { failureOfTool } from './read-error.js'

/** The result of a tool: its structured content as it is, else its content items combined into one value. */
export function readToolResult(result: JsonObject): { value: JsonValue } | { failure: AgentFailure } {
  const items = asObjects(result.content).flatMap(readContent)
  if (result.isError === true) return { failure: failureOfTool(textOf(items)) }
  return { value: isObject(result.structuredContent) ? result.structuredContent : toJsonValue(items) }
}

function readContent(content: JsonObject): ContentItem[] {
  const { type, text, data, resource } = content
  if (type === 'text' && typeof text === 'string') return [{ kind: 'text', text }]
  if ((type === 'image' || type === 'audio') && typeof data === 'string') {
    return [{ kind: 'file', file: { ...fileInfo(content), bytes: data } }]
  }
  if (type === 'resource_link') return [{ kind: 'file', file: fileInfo(content) }]
  if (type === 'resource' && isObject(resource)) {
    const bytes = asString(resource.blob)
    const resourceText = asString(resource.text)
    return [
      {
        kind: 'file',
        file: {
          ...fileInfo(resource),
          ...(bytes !== undefined && { bytes }),
          ...(resourceText !== undefined && { text: resourceText }),
        },
      },
    ]
  }
  return []
}

/** The members that describe a file. */
function fileInfo(source: JsonObject): JsonObject {
  const name = asString(source.name)
  const mimeType = asString(source.mimeType)
  const uri = asString(source.uri)
  return { ...(name && { name }), ...(mimeType && { mimeType }), ...(uri && { uri }) }
}
