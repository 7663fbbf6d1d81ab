import { explain, isExpected } from './explain.js'
import { UsageError } from './usage.js'

const HELP = `switchboard: a directory and exchange for AI agents

  switchboard serve              run a directory
  switchboard search WORDS…      find agents
  switchboard get ID             show an agent
  switchboard register FILE      register an agent once, from a document of any draft
  switchboard publish FILE       register an agent and keep it registered
  switchboard import FILE|URL…   register many agents
  switchboard crawl URL|HOST…    have the directory read the agents that sites publish
  switchboard remove ID…         remove agents
  switchboard find-directory     find directories on the local network or in a domain
  switchboard dns-sd DOMAIN      print the DNS records with which a directory is found
  switchboard resolve URI        show where an agent:// URI leads
  switchboard call AGENT         call an agent by URI or id
  switchboard mcp                offer the directory to an assistant as an MCP server
  switchboard local              run and manage agents on this computer
  switchboard keys               list, create and revoke API keys
  switchboard peers              list the agents of other directories
  switchboard audit              print the audit log
  switchboard subjects           export, erase or rename what is kept about a subject
  switchboard export             write the documents of all agents to a file
  switchboard backup FILE        write everything that a directory has stored to a file
  switchboard restore FILE       restore a backup
  switchboard migrate            copy all data between the embedded store and PostgreSQL

Each command has --help, and all but serve and mcp have --json for programs. Exit codes: 0 success, 1 failure, 2 wrong usage.

Examples:
  switchboard serve --port 9000 --data ./my-data
  switchboard call agent://planner.example.com/gen-iti city=Paris
`

type Command = (args: string[]) => Promise<number>

/** Loaded on demand: the server is large, and most commands do not need it. */
const COMMANDS = new Map<string, () => Promise<Command>>([
  ['serve', async () => (await import('./commands/serve.js')).serve],
  ['search', async () => (await import('./commands/search.js')).search],
  ['get', async () => (await import('./commands/get.js')).get],
  ['register', async () => (await import('./commands/register.js')).register],
  ['publish', async () => (await import('./commands/publish.js')).publish],
  ['import', async () => (await import('./commands/import.js')).importDocuments],
  ['crawl', async () => (await import('./commands/crawl.js')).crawl],
  ['remove', async () => (await import('./commands/remove.js')).remove],
  ['find-directory', async () => (await import('./commands/find-directory.js')).findDirectory],
  ['dns-sd', async () => (await import('./commands/dns-sd.js')).dnsSd],
  ['resolve', async () => (await import('./commands/resolve.js')).resolve],
  ['call', async () => (await import('./commands/call.js')).call],
  ['mcp', async () => (await import('./commands/mcp.js')).mcp],
  ['local', async () => (await import('./commands/local.js')).local],
  ['keys', async () => (await import('./commands/keys.js')).keys],
  ['peers', async () => (await import('./commands/peers.js')).peers],
  ['export', async () => (await import('./commands/export.js')).exportDocuments],
  ['backup', async () => (await import('./commands/backup.js')).backup],
  ['restore', async () => (await import('./commands/restore.js')).restore],
  ['migrate', async () => (await import('./commands/migrate.js')).migrate],
  ['subjects', async () => (await import('./commands/subjects.js')).subjects],
  ['audit', async () => (await import('./commands/audit.js')).audit],
])

/** Runs one command and returns its exit code. Expected errors are printed to stderr in one line. */
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
