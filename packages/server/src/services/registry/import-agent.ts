import {
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

/** One document to import: any face's, which is recognised if it is not named. */
export interface ImportItem {
  readonly document: JsonObject
  readonly format?: DocumentFormat
  readonly id?: string
  readonly owner?: string
}

/** What became of one of them. */
export type ImportResult =
  | {
      readonly status: 'created' | 'updated'
      readonly id: string
      readonly format: DocumentFormat
      readonly warnings?: readonly string[]
    }
  | { readonly status: 'failed'; readonly code: string; readonly message: string }

/** Registers one document of a bulk import; what is wrong with it does not stop the others. */
export async function importAgent(context: Context, item: ImportItem, caller: Caller): Promise<ImportResult> {
  try {
    const { format, id, document } = recognise(item)
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

function recognise({ document, format: named, id }: ImportItem): {
  format: DocumentFormat
  id: string | undefined
  document: JsonObject
} {
  const format = named ?? detectFormat(document)
  if (format === undefined) {
    throw new DirectoryError('invalid_request', 'the document is of no draft that is known here: name its "format"')
  }
  if (format !== 'directory')
    return { format, document, id: requireId(id ?? asString(document.id) ?? ownName(format, document)) }
  // The Agent Directory names an agent beside its document, not in it.
  const { agent, lt: _lifetime, href: _href, ...registration } = document
  return { format, document: registration, id: parseAgentName(id ?? asString(agent)) }
}

/** A name that comes from elsewhere than a member `id` has to be one all the same (C-30). */
function requireId(id: string | undefined): string | undefined {
  const problem = id === undefined ? undefined : idProblem(id)
  if (problem !== undefined) throw invalid([{ at: '/id', message: problem }])
  return id
}

/** Cards have no id: an MCP server's name is one, an A2A card and a descriptor are known by their URL. */
function ownName(format: DocumentFormat, document: JsonObject): string | undefined {
  if (format === 'mcp') return asString(document.name)
  if (format === 'aidip') return undefined
  const [first] = Array.isArray(document.supportedInterfaces) ? document.supportedInterfaces : []
  const ofInterface =
    typeof first === 'object' && first !== null && 'url' in first ? asString(first.url ?? undefined) : undefined
  return asString(document.url) ?? ofInterface
}
