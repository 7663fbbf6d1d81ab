import type { DemoInfo } from '@switchboard/protocol'
import { asStrings, type JsonObject } from '@switchboard/protocol/json'
import { given } from '@switchboard/protocol/record'
import { isClientError } from '../client-error.js'
import { command, type Options, type Values } from '../command/command.js'
import { DATA_OPTIONS } from '../data/place.js'
import { openAdmin, openDirectory } from '../directory.js'
import {
  commandName,
  DEFAULT_DATA,
  DIRECTORY_OPTIONS,
  namesAdministrator,
  namesDirectory,
  readAdminSettings,
  readDirectorySettings,
} from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { formatTable, print, printJson, remark, terminalWidth } from '../terminal/print.js'
import { styleFor } from '../terminal/style.js'
import { UsageError } from '../usage.js'

const OPTIONS = {
  detach: { type: 'boolean', short: 'd', text: 'let the directory run them, until --remove or until it stops' },
  remove: { type: 'boolean', text: 'remove them, also what a killed demo has left' },
  data: { ...DATA_OPTIONS.data, text: `folder of the directory's embedded store (${DEFAULT_DATA})` },
  ...DIRECTORY_OPTIONS,
} as const satisfies Options

type Flags = Values<typeof OPTIONS>
type Connection = Pick<Flags, 'url' | 'token'>

/** Seconds: how long the key of a running demo is valid. */
const KEY_LIFETIME = 7 * 86_400
/** Seconds: time for two requests as the administrator. */
const ADMIN_LIFETIME = 60

export const demo = command({
  summary: 'run a dozen small agents to try a directory with',
  usage: ['', '--detach', '--remove'],
  about: `Runs them here until Ctrl-C, and removes them again. They work offline: translation, units, weather, summaries, a stream, a deferred call, A2A, MCP, OpenAPI, an agent that requires a key and one that fails now and then. The directory must run on this computer, in development mode. Where you can write its data, no key is needed. Otherwise pass one: with the publish scope, or for --detach the administrator's.`,
  options: OPTIONS,
  examples: ['switchboard demo --detach'],
  async run(values) {
    if (values.detach && values.remove) throw new UsageError('use either --detach or --remove')
    if (values.remove) return remove(values)
    return values.detach ? detach(values) : attach(values)
  },
})

/** Runs the agents in this process. */
async function attach(values: Flags): Promise<number> {
  const signal = untilInterrupted()
  const { url, token = readAdminSettings(values).token } = readDirectorySettings(values)
  // Fails at once if the directory is not running; registrations would wait for it.
  await (await openDirectory(values)).search({ top: 1 })
  const isLocal = values.data !== undefined || !namesDirectory(values)
  const key = isLocal ? await createKey(values, ['publish'], KEY_LIFETIME) : undefined
  const { DEMO_INFO, startDemo } = await import('@switchboard/demo')
  const running = await startDemo({
    baseUrl: url,
    ...given('token', key?.secret ?? token),
    onError: (error) => remark(`${error instanceof Error ? error.message : error}; trying again`),
  })
  try {
    await report(DEMO_INFO, `registered at ${url}; Ctrl-C removes them`, values)
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve))
  } finally {
    await running.close()
    if (key) await asAdministrator(values, async (connection) => (await openAdmin(connection)).revokeKey(key.id))
  }
  return 0
}

/** Lets the directory run them. */
async function detach(values: Flags): Promise<number> {
  const started = await asAdministrator(values, async (connection) => (await openAdmin(connection)).startDemo())
  const ids = new Set(started.map(({ id }) => id))
  const { DEMO_INFO } = await import('@switchboard/demo')
  const agents = DEMO_INFO.filter(({ id }) => ids.has(id))
  await report(agents, `run by the directory; ${commandName()} demo --remove ends them`, values)
  return 0
}

async function remove(values: Flags): Promise<number> {
  const removed = await asAdministrator(values, removeAll)
  if (values.json) await printJson({ removed })
  else await print('the agents of the demo are removed\n')
  return 0
}

/** Stops the directory's demo and removes what others have left; returns the ids of the latter. */
async function removeAll(connection: Connection): Promise<string[]> {
  try {
    await (await openAdmin(connection)).stopDemo()
  } catch (error) {
    // Without the right to stop the directory's demo, or in production mode, what is left can still be removed.
    if (!(isClientError(error) && ['permission_denied', 'not_found'].includes(error.code))) throw error
  }
  const directory = await openDirectory(connection)
  const { DEMO_INFO } = await import('@switchboard/demo')
  const removed: string[] = []
  for (const { id } of DEMO_INFO) {
    const agent = await directory.get(id).catch(ignoreMissing)
    if (!asStrings(agent?.tags).includes('demo')) continue
    await directory.remove(id)
    removed.push(id)
  }
  return removed
}

function ignoreMissing(error: unknown): undefined {
  if (!(isClientError(error) && error.code === 'not_found')) throw error
}

/** Acts as an administrator: with the key that was given, or with one for this purpose from the data of a local directory. */
async function asAdministrator<T>(values: Flags, act: (connection: Connection) => Promise<T>): Promise<T> {
  const isLocal = values.data !== undefined || !namesAdministrator(values)
  const key = isLocal ? await createKey(values, ['admin'], ADMIN_LIFETIME) : undefined
  if (!key) return act(values)
  const connection = { ...given('url', values.url), token: key.secret }
  try {
    return await act(connection)
  } finally {
    await (await openAdmin(connection)).revokeKey(key.id)
  }
}

/** A key from the data of a directory on this computer; undefined if there is none. */
async function createKey({ data }: Flags, scopes: readonly string[], expiresIn: number) {
  const { createLocalKey, DEMO_NAMES, DEMO_SUBJECT, isProduction, readConfig, StoreError } = await import(
    '@switchboard/server'
  )
  const names = scopes.includes('admin') ? {} : { names: DEMO_NAMES }
  const config = readConfig(given('data', data))
  // Where others use the directory too, nobody gets a key without asking.
  if (isProduction(config) || config.database !== undefined) return undefined
  try {
    return await createLocalKey(config, { subject: DEMO_SUBJECT, scopes, expiresIn, ...names })
  } catch (error) {
    if (error instanceof StoreError) return undefined
    throw error
  }
}

/** Says what runs, and what to try: commands that can be pasted as they are. */
async function report(agents: readonly DemoInfo[], where: string, { json }: Flags): Promise<void> {
  if (json) return printJson({ agents: agents.map((agent) => ({ ...agent })) })
  const rows = agents.map(({ id, shows }) => [id, shows])
  const name = commandName()
  const commands = agents.map((agent) => `  ${name} call ${callOf(agent)}`)
  const [first] = agents
  await print(
    `${agents.length} agents are ${where}\n\n${formatTable(['AGENT', 'SHOWS'], rows, { width: terminalWidth(), style: styleFor(process.stdout) })}\n` +
      `Find them in your own words:\n  ${name} search ${first?.query}\n\n` +
      `Call them. That needs a key, once:\n` +
      `  export SWITCHBOARD_TOKEN=$(${name} keys create me --scopes publish,discover,invoke --quiet)\n` +
      `${commands.join('\n')}\n`,
  )
}

/** The arguments of `switchboard call` for the agent's example. */
function callOf({ id, input, operation, key, streams }: DemoInfo): string {
  const flags = [
    ...(operation === undefined ? [] : [`--operation ${operation}`]),
    ...(key === undefined ? [] : [`--agent-key ${key}`]),
    ...(streams ? ['--stream'] : []),
  ]
  return [id, ...pairsOf(input), ...flags].join(' ')
}

const pairsOf = (input: JsonObject): string[] =>
  Object.entries(input).map(([name, value]) =>
    typeof value === 'string' ? `${name}=${quoted(value)}` : `${name}:=${quoted(JSON.stringify(value))}`,
  )

/** As one word of a shell. */
const quoted = (text: string): string => (/^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`)
