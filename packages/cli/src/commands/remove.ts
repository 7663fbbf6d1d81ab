import { parseArgs } from 'node:util'
import { openDirectory } from '../directory.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { print, printJsonLine } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard remove: remove agents from a directory

  switchboard remove ID…

${DIRECTORY_HELP}

Example:
  switchboard remove translator planner
`

export async function remove(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: DIRECTORY_FLAGS })
  if (values.help) {
    await print(HELP)
    return 0
  }
  if (positionals.length === 0) throw new UsageError('name the agents: switchboard remove ID…')
  const directory = openDirectory(values)
  // One by one, so that the output shows what was removed before a failure.
  for (const id of positionals) {
    await directory.remove(id)
    if (values.json) await printJsonLine({ id, removed: true })
    else await print(`removed ${id}\n`)
  }
  return 0
}
