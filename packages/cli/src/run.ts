import { COMMANDS, loadCommands } from './catalog.js'
import { type Command, type CommandGroup, isGroup } from './command/command.js'
import { didYouMean } from './command/did-you-mean.js'
import { columns, type HelpLayout, helpFor } from './command/help.js'
import { explain, isExpected } from './explain.js'
import { print, terminalWidth } from './terminal/print.js'
import { styleFor } from './terminal/style.js'
import { UsageError } from './usage.js'
import { VERSION } from './version.js'

const HELP_FLAGS = new Set(['--help', '-h'])
const VERSION_FLAGS = new Set(['--version', '-v', '-V'])

/** Runs one command and returns its exit code. Expected errors are printed to stderr in one line. */
export async function run([name, ...args]: string[]): Promise<number> {
  try {
    if (name === undefined || HELP_FLAGS.has(name) || (name === 'help' && args.length === 0)) {
      await print(await overview())
      return name === undefined ? 2 : 0
    }
    if (VERSION_FLAGS.has(name)) {
      await print(`${VERSION}\n`)
      return 0
    }
    if (name === 'help') {
      await showHelp(args)
      return 0
    }
    return await runCommand(name, await load(name), args)
  } catch (error) {
    if (!isExpected(error)) throw error
    const { line, code } = explain(error)
    process.stderr.write(`${styleFor(process.stderr).red('switchboard:')} ${line}\n`)
    return code
  }
}

function load(name: string): Promise<Command | CommandGroup> {
  const found = COMMANDS.get(name)
  if (found) return found()
  throw new UsageError(
    `there is no command "${name}"${didYouMean(name, [...COMMANDS.keys(), 'help'], 'try switchboard --help')}`,
  )
}

async function runCommand(name: string, entry: Command | CommandGroup, args: readonly string[]): Promise<number> {
  const { path, command, rest } = isGroup(entry)
    ? chooseAction(name, entry, args)
    : { path: name, command: entry, rest: args }
  const end = rest.indexOf('--')
  if ((end < 0 ? rest : rest.slice(0, end)).some((arg) => HELP_FLAGS.has(arg))) {
    await print(helpFor(path, command ?? entry, layout()))
    return 0
  }
  if (command) return command.run(path, rest)
  throw unknownAction(name, entry, rest[0])
}

interface Choice {
  /** `keys create` */
  readonly path: string
  /** Undefined if there is no such action. */
  readonly command: Command | undefined
  readonly rest: readonly string[]
}

/** The action is the first argument; flags may come before it. */
function chooseAction(name: string, { actions, main }: CommandGroup, args: readonly string[]): Choice {
  const at = args[0]?.startsWith('-') ? args.findIndex((arg) => Object.hasOwn(actions, arg)) : 0
  const action = args[at] ?? ''
  if (Object.hasOwn(actions, action))
    return { path: `${name} ${action}`, command: actions[action], rest: [...args.slice(0, at), ...args.slice(at + 1)] }
  // The help of the group also shows the options of what runs without an action.
  const isMain = (args[0] ?? '-').startsWith('-') && !args.some((arg) => HELP_FLAGS.has(arg))
  return { path: name, command: isMain ? main : undefined, rest: args }
}

function unknownAction(name: string, entry: Command | CommandGroup, action: string | undefined): UsageError {
  const actions = isGroup(entry) ? entry.actions : {}
  const uses = Object.entries(actions)
    .map(([each, { usage }]) => `switchboard ${name} ${each} ${usage[0]}`.trimEnd())
    .join(', ')
  if (action === undefined || action.startsWith('-')) return new UsageError(`use: ${uses}`)
  return new UsageError(
    `there is no switchboard ${name} ${action}${didYouMean(action, Object.keys(actions), `use ${uses}`)}`,
  )
}

/** `switchboard help keys create` */
async function showHelp([name = '', action, ...more]: readonly string[]): Promise<void> {
  const entry = await load(name)
  if (action === undefined) return print(helpFor(name, entry, layout()))
  const command = isGroup(entry) ? entry.actions[action] : undefined
  if (!command || more.length > 0)
    throw isGroup(entry) ? unknownAction(name, entry, action) : new UsageError(`use: switchboard help ${name}`)
  return print(helpFor(`${name} ${action}`, command, layout()))
}

const layout = (): HelpLayout => ({
  style: styleFor(process.stdout),
  width: terminalWidth(),
})

async function overview(): Promise<string> {
  const terms = [...(await loadCommands())].map(([name, entry]) => {
    const usage = isGroup(entry) ? '' : entry.usage[0]
    return [`switchboard ${name} ${usage}`.trimEnd(), entry.summary] as const
  })
  const { style } = layout()
  return `${style.bold('switchboard')}: a directory and exchange for AI agents

${columns(terms, layout()).join('\n')}

switchboard help COMMAND explains a command, and so does --help after it. switchboard --version prints the version. Most commands
have --json for programs. Exit codes: 0 success, 1 failure, 2 wrong usage.

${style.bold('Examples:')}
  switchboard serve --port 9000 --data ./my-data
  switchboard search translate a contract into Chinese
  switchboard call agent://planner.example.com/gen-iti city=Paris
`
}
