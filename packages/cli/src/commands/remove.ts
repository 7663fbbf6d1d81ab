import { command } from '../command/command.js'
import { openDirectory } from '../directory.js'
import { DIRECTORY_OPTIONS } from '../settings.js'
import { print, printJsonLine } from '../terminal/print.js'

export const remove = command({
  summary: 'remove agents',
  usage: 'ID…',
  options: DIRECTORY_OPTIONS,
  examples: ['switchboard remove translator planner'],
  async run(values, ids) {
    const directory = await openDirectory(values)
    // One by one, so that the output shows what was removed before a failure.
    for (const id of ids) {
      await directory.remove(id)
      if (values.json) await printJsonLine({ id, removed: true })
      else await print(`removed ${id}\n`)
    }
    return 0
  },
})
