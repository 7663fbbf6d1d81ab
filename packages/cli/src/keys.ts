import { parseArgs } from 'node:util'
import { readConfig, resetAdministratorKey } from '@switchboard/server'
import { UsageError } from './usage.js'

const HELP = `switchboard keys reset-admin: make a new administrator's key

  --data FOLDER      folder of the embedded store (./switchboard-data)
  --database URL     a postgres:// URL instead
  --config FILE      settings from a file

Whoever can write the data may do this, also while the directory runs; the old key ends at once.

Example:
  switchboard keys reset-admin --data ./my-data
`

/** The key goes to stdout, so that scripts can take it. */
export async function keys(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      data: { type: 'string' },
      database: { type: 'string' },
      config: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  if (positionals.join(' ') !== 'reset-admin') throw new UsageError('use: switchboard keys reset-admin')
  process.stdout.write(`${await resetAdministratorKey(readConfig(values))}\n`)
  return 0
}
