import { parseArgs } from 'node:util'
import { ClientError } from '@switchboard/client'
import { openAdmin, openDirectory } from '../directory.js'
import { crawl, isUrl } from '../documents/crawl.js'
import { createFailureGroups } from '../documents/failure-groups.js'
import { type DocumentResult, importAll, importInBulk } from '../documents/import-all.js'
import { type BadDocument, type FoundDocument, problemOf, readDocuments } from '../documents/read-documents.js'
import { readFormat } from '../documents/registrable.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJsonLine, remark } from '../terminal/print.js'
import { createProgressBar } from '../terminal/progress-bar.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard import: register many documents

  switchboard import FILE|URL|-…

Accepts A2A cards, MCP server.json files and registry lists, agent.json files, lists and dumps of directories (JSON),
and lines of JSON (.ndjson, .jsonl). A URL is a document, or a host: all agents of its agents.json are registered, or
the one found there. A document that fails is reported and does not stop the others; the exit code is then 1. If the
directory limits registrations, the import waits as long as it is told to.

  --format FORMAT    aidip, profile, directory, descriptor, a2a or mcp, for all documents; default: detected from their
                     members (--face is the same)
  --bulk             send everything to POST /admin/import, which has no limit on registrations; needs an admin key
  --allow-private    also read documents from private networks
${DIRECTORY_HELP}

Examples:
  switchboard import cards/*.json --token $KEY
  switchboard import dump.ndjson --bulk --token $ADMIN_KEY
  switchboard import https://agents.example/
`

export async function importDocuments(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...DIRECTORY_FLAGS,
      format: { type: 'string' },
      face: { type: 'string' },
      bulk: { type: 'boolean' },
      'allow-private': { type: 'boolean' },
    },
  })
  if (values.help) {
    await print(HELP)
    return 0
  }
  if (positionals.length === 0) throw new UsageError('name at least one source: switchboard import FILE|URL…')
  readFormat(values) // so that a wrong one is reported once
  const signal = untilInterrupted()
  let total: number | undefined
  const expect = (documents: number): void => {
    total = documents
  }
  const found = documentsOf(positionals, { allowPrivate: values['allow-private'] === true, signal, expect })
  const bar = createProgressBar(process.stderr)
  const count = { created: 0, updated: 0, failed: 0 }
  const failures = createFailureGroups()
  const show = (note?: string): void =>
    bar.show(count.created + count.updated + count.failed, total, count.failed, note)
  const onWait = (seconds: number): void => show(`waiting ${seconds} s for the directory's rate limit`)
  const options = { flags: values, signal, onWait }
  const results = values.bulk
    ? importInBulk(openAdmin(values), found, options)
    : importAll(openDirectory(values), found, options)
  try {
    for await (const result of results) {
      count[result.status]++
      if (result.status === 'failed') failures.add(result)
      if (values.json) {
        bar.clear()
        await printResult(result)
      }
      show()
    }
  } finally {
    bar.clear()
    if (!values.json) for (const line of failures.lines()) remark(line)
  }
  const { created, updated, failed } = count
  const summary = `imported ${created + updated} (${created} new, ${updated} updated), ${failed} failed\n`
  if (values.json) process.stderr.write(summary)
  else await print(summary)
  return failed > 0 || signal.aborted ? 1 : 0
}

async function* documentsOf(
  sources: readonly string[],
  options: {
    readonly allowPrivate: boolean
    readonly signal: AbortSignal
    /** Called with the number of documents, as far as it is known; sources not yet read count as one. */
    readonly expect: (documents: number) => void
  },
): AsyncGenerator<FoundDocument | BadDocument> {
  let documents = 0
  for (const [read, source] of sources.entries()) {
    let counted = 0
    try {
      for await (const item of isUrl(source) ? crawl(source, options) : readDocuments(source)) {
        const total = ('total' in item ? item.total : undefined) ?? 1
        if (total > counted) {
          documents += total - counted
          counted = total
          options.expect(documents + sources.length - read - 1)
        }
        yield item
      }
    } catch (error) {
      if (!(error instanceof ClientError || error instanceof UsageError)) throw error
      yield { from: source, problem: problemOf(error, source) }
    }
  }
}

const printResult = ({ from, status, id, message }: DocumentResult): Promise<void> =>
  printJsonLine({ from, status, ...(id !== undefined && { id }), ...(message !== undefined && { message }) })
