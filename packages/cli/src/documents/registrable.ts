import type { RegisterOptions } from '@switchboard/client'
import { asString, DOCUMENT_FORMATS, type DocumentFormat, detectFormat, type JsonObject } from '@switchboard/protocol'
import { CommandError, UsageError } from '../usage.js'
import { crawl, isUrl, type ReadOptions } from './crawl.js'
import { type FoundDocument, readDocument } from './read-documents.js'

/** Reads one document from a file, stdin or a URL. */
export async function readSource(source: string, options: ReadOptions): Promise<FoundDocument> {
  if (!isUrl(source)) return readDocument(source, options)
  const found: FoundDocument[] = []
  for await (const item of crawl(source, options)) {
    if ('problem' in item) throw new CommandError(`${item.from}: ${item.problem}`)
    found.push(item)
    if (found.length > 1) throw new UsageError(`${source}: lists several agents; use switchboard import`)
  }
  const [first] = found
  if (!first) throw new CommandError(`${source}: lists no agents`)
  return first
}

/** The arguments of `register` for a document. */
export interface RegistrationRequest {
  readonly document: JsonObject
  readonly options: Pick<RegisterOptions, 'id' | 'format'>
}

/** Flags override the envelope of the document, which overrides the document itself. */
export function toRegistration(
  found: FoundDocument,
  flags: FormatFlags & { readonly id?: string | undefined } = {},
): RegistrationRequest {
  const format = readFormat(flags) ?? found.format ?? detectFormat(found.document)
  if (format === undefined) {
    throw new UsageError(
      `${found.from}: the format of the document cannot be detected; choose one with --format (${DOCUMENT_FORMATS.join(', ')})`,
    )
  }
  const id = flags.id ?? found.id
  if (format !== 'directory') return { document: found.document, options: { format, ...(id !== undefined && { id }) } }
  // In the Agent Directory the name is not part of an entry; dumps add the name and the lease to it.
  const { agent, lt: _lifetime, href: _href, ...entry } = found.document
  const name = id ?? asString(agent)
  return { document: entry, options: { format, ...(name !== undefined && { id: name }) } }
}

export interface FormatFlags {
  readonly format?: string | undefined
  /** The older name of --format. */
  readonly face?: string | undefined
}

/** The format that the flags choose. */
export function readFormat({ format: chosen, face }: FormatFlags): DocumentFormat | undefined {
  if (chosen !== undefined && face !== undefined && chosen !== face)
    throw new UsageError('--face is another name of --format: give only one of them')
  const text = chosen ?? face
  if (text === undefined) return undefined
  const format = DOCUMENT_FORMATS.find((name) => name === text)
  if (format) return format
  throw new UsageError(`--format must be one of ${DOCUMENT_FORMATS.join(', ')}, not "${text}"`)
}
