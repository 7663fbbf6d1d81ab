import type { Command, CommandGroup } from './command/command.js'

type Load = () => Promise<Command | CommandGroup>

/** All commands, in the order of the help. Loaded on demand: most of them need a part of the packages only. */
export const COMMANDS: ReadonlyMap<string, Load> = new Map<string, Load>([
  ['serve', async () => (await import('./commands/serve.js')).serve],
  ['search', async () => (await import('./commands/search.js')).search],
  ['explain', async () => (await import('./commands/explain.js')).explain],
  ['get', async () => (await import('./commands/get.js')).get],
  ['register', async () => (await import('./commands/register.js')).register],
  ['publish', async () => (await import('./commands/publish.js')).publish],
  ['import', async () => (await import('./commands/import.js')).importDocuments],
  ['crawl', async () => (await import('./commands/crawl.js')).crawl],
  ['remove', async () => (await import('./commands/remove.js')).remove],
  ['find-directory', async () => (await import('./commands/find-directory.js')).findDirectory],
  ['dns-records', async () => (await import('./commands/dns-records.js')).dnsRecords],
  ['dns-sd', async () => (await import('./commands/dns-sd.js')).dnsSd],
  ['resolve', async () => (await import('./commands/resolve.js')).resolve],
  ['call', async () => (await import('./commands/call.js')).call],
  ['demo', async () => (await import('./commands/demo.js')).demo],
  ['mcp', async () => (await import('./commands/mcp.js')).mcp],
  ['local', async () => (await import('./commands/local.js')).local],
  ['keys', async () => (await import('./commands/keys.js')).keys],
  ['grants', async () => (await import('./commands/grants.js')).grants],
  ['peers', async () => (await import('./commands/peers.js')).peers],
  ['audit', async () => (await import('./commands/audit.js')).audit],
  ['subjects', async () => (await import('./commands/subjects.js')).subjects],
  ['export', async () => (await import('./commands/export.js')).exportDocuments],
  ['backup', async () => (await import('./commands/backup.js')).backup],
  ['restore', async () => (await import('./commands/restore.js')).restore],
  ['migrate', async () => (await import('./commands/migrate.js')).migrate],
  ['doctor', async () => (await import('./commands/doctor.js')).doctor],
  ['completion', async () => (await import('./commands/completion.js')).createCompletion(loadCommands)],
])

/** Loads every command, for help, completion and documentation. */
export const loadCommands = async (): Promise<ReadonlyMap<string, Command | CommandGroup>> =>
  new Map(await Promise.all([...COMMANDS].map(async ([name, load]) => [name, await load()] as const)))
