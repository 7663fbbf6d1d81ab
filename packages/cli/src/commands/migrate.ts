import type { DataPlace } from '@switchboard/server'
import { command } from '../command/command.js'
import { moveWithProgress, reportMoved } from '../data/move.js'
import { readPlace, remarkOnSecret } from '../data/place.js'
import { JSON_OPTION } from '../settings.js'
import { UsageError } from '../usage.js'

export const migrate = command({
  summary: 'copy all data between the embedded store and PostgreSQL',
  usage: '--from FOLDER|URL --to FOLDER|URL',
  about: `Copies between the embedded store (a folder) and PostgreSQL (a postgres:// URL), in either direction, completely or not at all. The source stays as it is; the target must be empty. Stop the servers of the source first. Passwords of databases can be in PGPASSWORD or ~/.pgpass instead of the URL.`,
  options: {
    from: { type: 'string', value: 'FOLDER|URL', text: 'the store to copy' },
    to: { type: 'string', value: 'FOLDER|URL', text: 'the store to fill' },
    live: {
      type: 'boolean',
      text: 'copy a snapshot while servers use the source; what they write later is not copied',
    },
    ...JSON_OPTION,
  },
  examples: [
    'switchboard migrate --from ./switchboard-data --to postgres://db/switchboard',
    'switchboard migrate --from postgres://db/switchboard --to ./switchboard-data',
  ],
  async run(values) {
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
  },
})

const toPlace = (text: string): DataPlace => (/^postgres(ql)?:\/\//.test(text) ? { database: text } : { folder: text })
