import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { command } from '../command/command.js'
import { moveWithProgress, reportMoved } from '../data/move.js'
import { PLACE_OPTIONS, readPlace, remarkOnSecret } from '../data/place.js'

export const restore = command({
  summary: 'restore a backup',
  usage: 'FILE|-',
  about: `Restores what switchboard backup has written, completely or not at all, into an empty store of either kind. Stop the servers of a folder first. Servers on a database may run: they load the restored data. "-" reads from stdin.`,
  options: {
    replace: { type: 'boolean', text: 'delete what the store contains, instead of refusing' },
    verify: { type: 'boolean', text: 'only check that the backup is complete and undamaged' },
    ...PLACE_OPTIONS,
  },
  examples: [
    'switchboard restore nightly.backup --verify',
    'switchboard restore nightly.backup --database postgres://db/switchboard',
  ],
  async run(values, [file = '']) {
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
  },
})
