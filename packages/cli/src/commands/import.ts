import { parseArgs } from 'node:util'
import { ClientError } from '@switchboard/client'
import { openAdmin, openDirectory } from '../directory.js'
import { crawl, isUrl } from '../documents/crawl.js'
import { type DocumentResult, importAll, importInBulk } from '../documents/import-all.js'
import { type BadDocument, type FoundDocument, problemOf, readDocuments } from '../documents/read-documents.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJsonLine, remark } from '../terminal/print.js'
import { createProgressBar } from '../terminal/progress-bar.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard import: register many documents

  switchboard import FILE|URL|-…

Accepts A2A cards, MCP server.json files and registry lists, agent.json files, lists and dumps of directories (JSON),
and lines of JSON (.ndjson, .jsonl). A URL is a document, or a host: all agents of its agents.json are registered, or
the one found there. A document that fails is reported and does not stop the others; the exit code is then 1.

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
    options: { ...DIRECTORY_FLAGS, bulk: { type: 'boolean' }, 'allow-private': { type: 'boolean' } },
  })
  if (values.help) {
    await print(HELP)
    return 0
  }
  if (positionals.length === 0) throw new UsageError('name at least one source: switchboard import FILE|URL…')
  const signal = untilInterrupted()
  const found = documentsOf(positionals, { allowPrivate: values['allow-private'] === true, signal })
  const results = values.bulk
    ? importInBulk(openAdmin(values), found, signal)
    : importAll(openDirectory(values), found, signal)
  const bar = createProgressBar(process.stderr)
  const count = { created: 0, updated: 0, failed: 0 }
  for await (const result of results) {
    count[result.status]++
    bar.clear()
    await report(result, values.json === true)
    bar.show(count.created + count.updated + count.failed, result.total, count.failed)
  }
  bar.clear()
  const { created, updated, failed } = count
  const summary = `imported ${created + updated} (${created} new, ${updated} updated), ${failed} failed\n`
  if (values.json) process.stderr.write(summary)
  else await print(summary)
  return failed > 0 || signal.aborted ? 1 : 0
}

async function* documentsOf(
  sources: readonly string[],
  options: { readonly allowPrivate: boolean; readonly signal: AbortSignal },
): AsyncGenerator<FoundDocument | BadDocument> {
  for (const source of sources) {
    try {
      yield* isUrl(source) ? crawl(source, options) : readDocuments(source)
    } catch (error) {
      if (!(error instanceof ClientError || error instanceof UsageError)) throw error
      yield { from: source, problem: problemOf(error, source) }
    }
  }
}

async function report({ from, status, id, message }: DocumentResult, asJson: boolean): Promise<void> {
  const result = { from, status, ...(id !== undefined && { id }), ...(message !== undefined && { message }) }
  if (asJson) return printJsonLine(result)
  if (status === 'failed') remark(`${from}: ${message}`)
}
