import { command } from '../command/command.js'
import { moveWithProgress, reportMoved } from '../data/move.js'
import { writeNewFile } from '../data/new-file.js'
import { PLACE_OPTIONS, readPlace, remarkOnSecret } from '../data/place.js'
import { UsageError } from '../usage.js'

export const backup = command({
  summary: 'write everything that a directory has stored to a file',
  usage: 'FILE|-',
  about: `Servers may go on running: the backup contains one state of the data. The file is compressed, has a checksum, and only you can read it. It can be restored into either kind of store. Keys are stored as hashes and other secrets encrypted, but documents, subjects and the audit log are in clear text, so store it safely. "-" writes to stdout.`,
  options: {
    'no-embeddings': {
      type: 'boolean',
      text: 'leave out the embeddings; the directory computes them again after a restore',
    },
    ...PLACE_OPTIONS,
  },
  examples: [
    'switchboard backup nightly.backup --data ./my-data',
    'switchboard backup - --database postgres://db/switchboard | age -r KEY > nightly.age',
  ],
  async run(values, [file = '']) {
    if (file === '-' && process.stdout.isTTY)
      throw new UsageError('a backup is not text: redirect stdout, or name a file')
    const place = await readPlace(values)
    const { backUpData } = await import('@switchboard/server')
    const embeddings = values['no-embeddings'] !== true
    const moved = await moveWithProgress((options) =>
      writeNewFile(file, (target) => backUpData(place.place, target, { ...options, embeddings })),
    )
    if (file !== '-') await reportMoved(`backed up to ${file}`, moved, values.json, { file })
    remarkOnSecret(place, moved.sealed, 'backup')
    return 0
  },
})
