import {
  asObjects,
  asString,
  DirectoryError,
  type DocumentFormat,
  detectFormat,
  idProblem,
  invalid,
  type JsonObject,
  parseAgentName,
  parseDocument,
} from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import { grantLifetime } from '../../policy/lifetime.js'
import type { Context } from '../context.js'
import { registerAgent } from './register.js'

/** One document to import; its format is detected unless it is given. */
export interface ImportItem {
  readonly document: JsonObject
  readonly format?: DocumentFormat
  readonly id?: string
  readonly owner?: string
}

/** The result for one document. */
export type ImportResult =
  | {
      readonly status: 'created' | 'updated'
      readonly id: string
      readonly format: DocumentFormat
      readonly warnings?: readonly string[]
    }
  | { readonly status: 'failed'; readonly code: string; readonly message: string }

/** Registers one document of a bulk import; an invalid document does not stop the others. */
export async function importAgent(context: Context, item: ImportItem, caller: Caller): Promise<ImportResult> {
  try {
    const { format, id, document } = toImported(item)
    const registered = await registerAgent(context, {
      format,
      id,
      caller,
      intent: 'claim',
      document: parseDocument(format, document, context.policy.strictness),
      onBehalfOf: item.owner,
      ...(format === 'directory' && { lifetime: grantLifetime(undefined, context.maxLifetime) }),
    })
    const { agent, created, warnings } = registered
    return {
      status: created ? 'created' : 'updated',
      id: agent.record.id,
      format,
      ...(warnings.length > 0 && { warnings }),
    }
  } catch (error) {
    if (!(error instanceof DirectoryError)) throw error
    return { status: 'failed', code: error.code, message: error.message }
  }
}

/** The format, id and document that are registered for a document of any format. */
export function toImported({ document, format: named, id }: ImportItem): {
  format: DocumentFormat
  id: string | undefined
  document: JsonObject
} {
  const format = named ?? detectFormat(document)
  if (format === undefined) {
    throw new DirectoryError('invalid_request', 'the format of the document cannot be detected: name it in "format"')
  }
  if (format !== 'directory') return { format, document, id: idFor(format, document, id) }
  // The Agent Directory names an agent in the query, not in the document.
  const { agent, lt: _lifetime, href: _href, ...registration } = document
  return { format, document: registration, id: parseAgentName(id ?? asString(agent)) }
}

/** The id of a document: the one that is wanted, its own, or that of a card. */
export const idFor = (format: DocumentFormat, document: JsonObject, wanted: string | undefined): string | undefined =>
  requireId(wanted ?? asString(document.id) ?? idOfCard(format, document))

/** Checks an id that does not come from the member `id`, which the schema checks (C-30). */
function requireId(id: string | undefined): string | undefined {
  const problem = id === undefined ? undefined : idProblem(id)
  if (problem !== undefined) throw invalid([{ at: '/id', message: problem }])
  return id
}

/** The id of a card, which has no member `id`: the name of an MCP server, the URL of an A2A card or a descriptor. */
function idOfCard(format: DocumentFormat, document: JsonObject): string | undefined {
  if (format === 'mcp') return requireId(asString(document.name))
  if (format === 'aidip') return undefined
  const [first] = asObjects(document.supportedInterfaces)
  return requireId(asString(document.url) ?? asString(first?.url))
}
