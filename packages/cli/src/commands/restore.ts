import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { moveWithProgress, reportMoved } from '../data/move.js'
import { PLACE_FLAGS, PLACE_HELP, readPlace, remarkOnSecret } from '../data/place.js'
import { print } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard restore: restore what switchboard backup has written

  switchboard restore FILE|-

Restores the backup completely or not at all, into an empty store of either kind. Stop the servers of a folder first.
Servers on a database may run: they load the restored data. "-" reads from stdin.

  --replace            delete what the store contains, instead of refusing
  --verify             only check that the backup is complete and undamaged
${PLACE_HELP}

Examples:
  switchboard restore nightly.backup --verify
  switchboard restore nightly.backup --database postgres://db/switchboard
`

export async function restore(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...PLACE_FLAGS, replace: { type: 'boolean' }, verify: { type: 'boolean' } },
  })
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0) throw new UsageError('name one file: switchboard restore FILE')
  const { restoreData, verifyBackup } = await import('@switchboard/server')
  const open = (): Readable => (file === '-' ? process.stdin : createReadStream(file))
  if (values.verify) {
    const { createdAt, ...moved } = await moveWithProgress((options) => verifyBackup(open(), options))
    await reportMoved(`${file} is complete, made at ${createdAt}`, moved, values.json, { created_at: createdAt })
    return 0
  }
  const place = await readPlace(values)
  const moved = await moveWithProgress((options) =>
    restoreData(open(), place.place, { ...options, replace: values.replace === true }),
  )
  await reportMoved(`restored ${file}`, moved, values.json)
  remarkOnSecret(place, moved.sealed, 'target')
  return 0
}
