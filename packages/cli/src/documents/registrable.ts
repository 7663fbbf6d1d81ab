import type { RegisterOptions } from '@switchboard/client'
import { asString, type DocumentFormat, detectFormat, type JsonObject } from '@switchboard/protocol'
import { CommandError, UsageError } from '../usage.js'
import { crawl, isUrl } from './crawl.js'
import { DOCUMENT_FORMATS, type FoundDocument, readDocument } from './read-documents.js'

/** The one document of a file, of stdin or at an address. */
export async function readSource(
  source: string,
  options: { readonly allowPrivate: boolean; readonly signal: AbortSignal },
): Promise<FoundDocument> {
  if (!isUrl(source)) return readDocument(source)
  const found: FoundDocument[] = []
  for await (const item of crawl(source, options)) {
    if ('problem' in item) throw new CommandError(`${item.from}: ${item.problem}`)
    found.push(item)
    if (found.length > 1) throw new UsageError(`${source} lists several agents: use switchboard import`)
  }
  const [first] = found
  if (!first) throw new CommandError(`${source} lists no agents`)
  return first
}

/** What is sent to the directory for a document. */
export interface RegistrationRequest {
  readonly document: JsonObject
  readonly options: Pick<RegisterOptions, 'id' | 'format'>
}

/** What flags say wins over what stands beside the document, and that over the document. */
export function toRegistration(
  found: FoundDocument,
  flags: { readonly id?: string | undefined; readonly format?: string | undefined } = {},
): RegistrationRequest {
  const named = readFormat(flags.format) ?? found.format
  const format = named ?? detectFormat(found.document)
  if (format === undefined) {
    throw new UsageError(
      `${found.from} has the members of no draft: name it with --format, one of ${DOCUMENT_FORMATS.join(', ')}`,
    )
  }
  const id = flags.id ?? found.id
  if (format !== 'directory') return { document: found.document, options: { format, ...(id !== undefined && { id }) } }
  // The Agent Directory names an agent beside its entry; a dump has the name and the lease in it.
  const { agent, lt: _lifetime, href: _href, ...entry } = found.document
  const name = id ?? asString(agent)
  return { document: entry, options: { format, ...(name !== undefined && { id: name }) } }
}

function readFormat(text: string | undefined): DocumentFormat | undefined {
  if (text === undefined) return undefined
  const format = DOCUMENT_FORMATS.find((word) => word === text)
  if (format) return format
  throw new UsageError(`--format must be one of ${DOCUMENT_FORMATS.join(', ')}, not "${text}"`)
}
