import { isClientError } from '../client-error.js'
import { openAdmin, openDirectory } from '../directory.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJsonLine, remark } from '../terminal/print.js'
import { createProgressBar } from '../terminal/progress-bar.js'
import { UsageError } from '../usage.js'
import { crawl, isUrl, type ReadOptions } from './crawl.js'
import { createFailureGroups } from './failure-groups.js'
import { type DocumentResult, importAll, importInBulk } from './import-all.js'
import { type BadDocument, type FoundDocument, problemOf, readDocuments } from './read-documents.js'
import { type FormatFlags, readFormat } from './registrable.js'

interface ImportFlags extends FormatFlags {
  readonly bulk?: boolean | undefined
  readonly json?: boolean | undefined
  readonly 'allow-private'?: boolean | undefined
  readonly url?: string | undefined
  readonly token?: string | undefined
}

/** Registers the documents of files and URLs, shows the progress and reports what failed; returns the exit code. */
export async function importSources(values: ImportFlags, sources: readonly string[]): Promise<number> {
  readFormat(values) // so that a wrong one is reported once
  const signal = untilInterrupted()
  let total: number | undefined
  const expect = (documents: number): void => {
    total = documents
  }
  const found = documentsOf(sources, { allowPrivate: values['allow-private'] === true, signal, expect })
  const bar = createProgressBar(process.stderr)
  const count = { created: 0, updated: 0, failed: 0 }
  const failures = createFailureGroups()
  const show = (note?: string): void =>
    bar.show(count.created + count.updated + count.failed, total, count.failed, note)
  const onWait = (seconds: number): void => show(`waiting ${seconds} s for the directory's rate limit`)
  const options = { flags: values, signal, onWait }
  const results = values.bulk
    ? importInBulk(await openAdmin(values), found, options)
    : importAll(await openDirectory(values), found, options)
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
  options: ReadOptions & {
    /** Called with the number of documents, as far as it is known; sources not yet read count as one. */
    readonly expect: (documents: number) => void
  },
): AsyncGenerator<FoundDocument | BadDocument> {
  let documents = 0
  for (const [read, source] of sources.entries()) {
    let counted = 0
    try {
      for await (const item of isUrl(source) ? crawl(source, options) : readDocuments(source, options)) {
        const total = ('total' in item ? item.total : undefined) ?? 1
        if (total > counted) {
          documents += total - counted
          counted = total
          options.expect(documents + sources.length - read - 1)
        }
        yield item
      }
    } catch (error) {
      if (!(isClientError(error) || error instanceof UsageError)) throw error
      yield { from: source, problem: problemOf(error, source) }
    }
  }
}

const printResult = ({ from, status, id, message }: DocumentResult): Promise<void> =>
  printJsonLine({ from, status, ...(id !== undefined && { id }), ...(message !== undefined && { message }) })
