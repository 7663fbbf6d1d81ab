import { parseArgs } from 'node:util'
import { moveWithProgress, reportMoved } from '../data/move.js'
import { writeNewFile } from '../data/new-file.js'
import { PLACE_FLAGS, PLACE_HELP, readPlace, remarkOnSecret } from '../data/place.js'
import { print } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard backup: write everything that a directory has stored to a file

  switchboard backup FILE|-

Servers may go on running: the backup contains one state of the data. The file is compressed, has a checksum, and only
you can read it. It can be restored into either kind of store. Keys are stored as hashes and other secrets encrypted,
but documents, subjects and the audit log are in clear text, so store it safely. "-" writes to stdout.

  --no-embeddings      leave out the embeddings; the directory computes them again after a restore
${PLACE_HELP}

Examples:
  switchboard backup nightly.backup --data ./my-data
  switchboard backup - --database postgres://db/switchboard | age -r KEY > nightly.age
`

export async function backup(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...PLACE_FLAGS, 'no-embeddings': { type: 'boolean' } },
  })
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [file, ...more] = positionals
  if (file === undefined || more.length > 0) throw new UsageError('name one file: switchboard backup FILE')
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
}
