import { keys } from './keys.js'
import { serve } from './serve.js'
import { UsageError } from './usage.js'

const HELP = `switchboard: the directory and exchange for AI agents

  switchboard serve              start the directory
  switchboard keys reset-admin   make a new administrator's key

Each command has --help. Example:
  switchboard serve --port 9000 --data ./my-data
`

const COMMANDS = new Map([
  ['serve', serve],
  ['keys', keys],
])

/** Runs one command and returns its exit code; what cannot be used is told in one line, with code 2. */
export async function run([name, ...args]: string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(HELP)
    return name === undefined ? 2 : 0
  }
  const command = COMMANDS.get(name)
  try {
    if (!command) throw new UsageError(`there is no command "${name}": try switchboard --help`)
    return await command(args)
  } catch (error) {
    if (!isExpected(error)) throw error
    process.stderr.write(`switchboard: ${error.message.replaceAll('\n', ' ')}\n`)
    return 2
  }
}

/** Mistakes of the person at the keyboard and a store that cannot be had; anything else is a bug and shows its stack. */
function isExpected(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return (
    ['UsageError', 'ConfigError', 'StoreError'].includes(error.name) ||
    /^(EADDR|EACCES|ENOTFOUND|ERR_PARSE_ARGS)/.test(code)
  )
}
