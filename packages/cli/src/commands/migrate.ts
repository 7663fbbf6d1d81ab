import { parseArgs } from 'node:util'
import type { DataPlace } from '@switchboard/server'
import { moveWithProgress, reportMoved } from '../data/move.js'
import { readPlace, remarkOnSecret } from '../data/place.js'
import { print } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard migrate: copy all data of a directory into another store

  switchboard migrate --from FOLDER|URL --to FOLDER|URL

Copies between the embedded store (a folder) and PostgreSQL (a postgres:// URL), in either direction, completely or not
at all. The source stays as it is; the target must be empty. Stop the servers of the source first. Passwords of databases
can be in PGPASSWORD or ~/.pgpass instead of the URL.

  --from FOLDER|URL    the store to copy
  --to FOLDER|URL      the store to fill
  --live               copy a snapshot while servers use the source; what they write later is not copied
  --json               print JSON, for programs

Examples:
  switchboard migrate --from ./switchboard-data --to postgres://db/switchboard
  switchboard migrate --from postgres://db/switchboard --to ./switchboard-data
`

export async function migrate(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      live: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    await print(HELP)
    return 0
  }
  const { from, to } = values
  if (from === undefined || to === undefined)
    throw new UsageError('name both stores: switchboard migrate --from X --to Y')
  const { migrateData } = await import('@switchboard/server')
  const moved = await moveWithProgress((options) =>
    migrateData(toPlace(from), toPlace(to), { ...options, live: values.live === true }),
  )
  await reportMoved('migrated', moved, values.json)
  const { hasSecret } = await readPlace({})
  remarkOnSecret({ place: toPlace(to), hasSecret }, moved.sealed, 'target')
  return 0
}

const toPlace = (text: string): DataPlace => (/^postgres(ql)?:\/\//.test(text) ? { database: text } : { folder: text })
