import { explain, isExpected } from './explain.js'
import { UsageError } from './usage.js'

const HELP = `switchboard: the directory and exchange for AI agents

  switchboard serve              start the directory
  switchboard search WORDS…      find agents
  switchboard get ID             show one
  switchboard register FILE      register a document of any draft, once
  switchboard publish FILE       register it and keep it registered
  switchboard import FILE|URL…   register many
  switchboard remove ID…         take agents out
  switchboard resolve URI        find out where the agent of an agent:// URI is
  switchboard call AGENT         call one by its URI or id
  switchboard local              agents on this computer, and what web pages may do with them
  switchboard keys               list, create and revoke keys; reset-admin

Each command has --help, and --json for programs. Exit codes: 0 done, 1 failed, 2 used wrongly.

Examples:
  switchboard serve --port 9000 --data ./my-data
  switchboard call agent://planner.example.com/gen-iti city=Paris
`

type Command = (args: string[]) => Promise<number>

/** Loaded when they are called: the directory itself is large, and most commands only talk with one. */
const COMMANDS = new Map<string, () => Promise<Command>>([
  ['serve', async () => (await import('./commands/serve.js')).serve],
  ['search', async () => (await import('./commands/search.js')).search],
  ['get', async () => (await import('./commands/get.js')).get],
  ['register', async () => (await import('./commands/register.js')).register],
  ['publish', async () => (await import('./commands/publish.js')).publish],
  ['import', async () => (await import('./commands/import.js')).importDocuments],
  ['remove', async () => (await import('./commands/remove.js')).remove],
  ['resolve', async () => (await import('./commands/resolve.js')).resolve],
  ['call', async () => (await import('./commands/call.js')).call],
  ['local', async () => (await import('./commands/local.js')).local],
  ['keys', async () => (await import('./commands/keys.js')).keys],
])

/** Runs one command and returns its exit code; what went wrong is told in one line. */
export async function run([name, ...args]: string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(HELP)
    return name === undefined ? 2 : 0
  }
  const load = COMMANDS.get(name)
  try {
    if (!load) throw new UsageError(`there is no command "${name}": try switchboard --help`)
    const command = await load()
    return await command(args)
  } catch (error) {
    if (!isExpected(error)) throw error
    const { line, code } = explain(error)
    process.stderr.write(`switchboard: ${line}\n`)
    return code
  }
}
