import { pipeline } from 'node:stream/promises'
import { command } from '../command/command.js'
import { writeNewFile } from '../data/new-file.js'
import { openAdmin } from '../directory.js'
import { ADMIN_OPTIONS } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print } from '../terminal/print.js'
import { createProgressBar } from '../terminal/progress-bar.js'

export const exportDocuments = command({
  summary: 'write the documents of all agents to a file',
  usage: '[FILE]',
  about: `Writes one agent per line (NDJSON) with its id, format, owner and its document as it was sent; without FILE, to stdout. switchboard import --bulk reads it, and restores the owners. Keys, grants and all other data are in switchboard backup. Needs an administrator's key.`,
  options: ADMIN_OPTIONS,
  examples: [
    'switchboard export agents.ndjson',
    'switchboard import agents.ndjson --bulk --url https://other.example --token $OTHER_KEY',
  ],
  async run(values, [file = '-']) {
    const signal = untilInterrupted()
    const bar = createProgressBar(process.stderr)
    let agents = 0
    try {
      await writeNewFile(file, async (target) => {
        const { total, items } = await (await openAdmin(values)).exportAgents({ signal })
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
  },
})
