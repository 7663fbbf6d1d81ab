import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { writeNewFile } from '../data/new-file.js'
import { openAdmin } from '../directory.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print } from '../terminal/print.js'
import { createProgressBar } from '../terminal/progress-bar.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard export: write the documents of all agents to a file

  switchboard export [FILE]                 needs an administrator's key as --token

Writes one agent per line (NDJSON) with its id, format, owner and its document as it was sent; without FILE, to stdout.
switchboard import --bulk reads it, and restores the owners. Keys, grants and all other data are in switchboard backup.

${DIRECTORY_HELP}, about the result

Example:
  switchboard export agents.ndjson --token $ADMIN_KEY
  switchboard import agents.ndjson --bulk --url https://other.example --token $OTHER_KEY
`

export async function exportDocuments(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: DIRECTORY_FLAGS })
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [file = '-', ...more] = positionals
  if (more.length > 0) throw new UsageError('name one file: switchboard export FILE')
  const signal = untilInterrupted()
  const bar = createProgressBar(process.stderr)
  let agents = 0
  try {
    await writeNewFile(file, async (target) => {
      const { total, items } = await openAdmin(values).exportAgents({ signal })
      const lines = async function* (): AsyncGenerator<string> {
        for await (const item of items) {
          yield `${JSON.stringify(item)}\n`
          bar.show(++agents, total, 0)
        }
      }
      await pipeline(lines, target)
    })
  } finally {
    bar.clear()
  }
  const summary = values.json ? `${JSON.stringify({ agents })}\n` : `exported ${agents} agents\n`
  if (file === '-') process.stderr.write(summary)
  else await print(summary)
  return 0
}
