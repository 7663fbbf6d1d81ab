import { resolve } from 'node:path'
import type { LocalClient, Permission } from '@switchboard/local'
import { asString, isObject, type JsonObject } from '@switchboard/protocol/json'
import { type Command, command, type Options, type Values } from '../command/command.js'
import { readJson } from '../documents/read-input.js'
import { readText } from '../documents/read-text.js'
import { JSON_OPTION, readLocalSocket } from '../settings.js'
import { print, printJson, printTable } from '../terminal/print.js'
import { UsageError } from '../usage.js'

/** Options of every action, and of the runtime. */
export const SOCKET_OPTIONS = {
  socket: {
    type: 'string',
    value: 'PATH',
    text: 'socket of the runtime ($XDG_RUNTIME_DIR/switchboard/local.sock, else ~/.switchboard/local.sock)',
    variable: 'SWITCHBOARD_LOCAL_SOCKET',
  },
  ...JSON_OPTION,
} as const satisfies Options

const ADD_OPTIONS = {
  descriptor: {
    type: 'string',
    value: 'FILE',
    text: "the agent's descriptor; default: the one that the agent publishes",
  },
  ...SOCKET_OPTIONS,
} as const satisfies Options

/** What an action works with. */
interface LocalRequest {
  readonly client: LocalClient
  readonly args: readonly string[]
  readonly asJson: boolean
}

type Action = (request: LocalRequest) => Promise<void>

async function openRequest(values: Values<typeof SOCKET_OPTIONS>, args: readonly string[]): Promise<LocalRequest> {
  const { createLocalClient } = await import('@switchboard/local')
  const client = createLocalClient(resolve(await readLocalSocket(values.socket)))
  return { client, args, asJson: values.json === true }
}

/** An action that has no options of its own. */
const action = (act: Action, summary: string, usage: string, example: string): Command =>
  command({
    summary,
    usage,
    options: SOCKET_OPTIONS,
    examples: [example],
    run: async (values, args) => act(await openRequest(values, args)).then(() => 0),
  })

/** The actions on a running runtime, by name. */
export const LOCAL_ACTIONS: Readonly<Record<string, Command>> = {
  list: action(list, 'list the registered agents', '', 'switchboard local list'),
  add: command({
    summary: 'register an agent that listens on this computer',
    usage: 'NAME URL|SOCKET',
    options: ADD_OPTIONS,
    examples: ['switchboard local add notes http://127.0.0.1:9000'],
    run: async (values, args) => add(await openRequest(values, args), values.descriptor).then(() => 0),
  }),
  remove: action(remove, 'remove an agent', 'NAME', 'switchboard local remove notes'),
  consents: action(
    consents,
    'list what web pages may do, and their open requests',
    '',
    'switchboard local consents --json',
  ),
  allow: action(
    allow,
    'let pages of an origin call an agent (default: all of it)',
    'ORIGIN AGENT [CAPABILITY]',
    'switchboard local allow https://notes.example notes add',
  ),
  revoke: action(
    revoke,
    'revoke that, or refuse an open request',
    'ORIGIN [AGENT [CAPABILITY]]',
    'switchboard local revoke https://notes.example',
  ),
  log: action(log, 'show calls, consents and refusals', '', 'switchboard local log'),
}

async function list({ client, asJson }: LocalRequest): Promise<void> {
  const agents = await client.agents()
  if (asJson)
    return printJson(
      agents.map(({ target, capabilities, ...rest }) => ({ ...rest, capabilities: [...capabilities], ...target })),
    )
  const rows = agents.map(({ name, capabilities, target, description }) => [
    `agent+local://${name}`,
    capabilities.join(' '),
    'socket' in target ? target.socket : target.url,
    description,
  ])
  await printTable(['AGENT', 'CAPABILITIES', 'LISTENS ON', 'DESCRIPTION'], rows, 'no local agents')
}

async function add({ client, args, asJson }: LocalRequest, file: string | undefined): Promise<void> {
  const [name = '', address = ''] = args
  const target = /^https?:/i.test(address) ? { url: address } : { socket: resolve(address) }
  const descriptor = file === undefined ? {} : { descriptor: await readDescriptor(file) }
  const agent = await client.register(name, { ...target, ...descriptor })
  if (asJson) return printJson({ name: agent.name, uri: `agent+local://${agent.name}` })
  await print(`agent+local://${agent.name} is registered: ${agent.capabilities.join(', ') || 'no capabilities'}\n`)
}

async function readDescriptor(file: string): Promise<JsonObject> {
  const value = readJson(await readText(file), file)
  if (isObject(value)) return value
  throw new UsageError(`${file} must be a JSON object`)
}

async function remove({ client, args, asJson }: LocalRequest): Promise<void> {
  const [name = ''] = args
  await client.unregister(name)
  if (asJson) return printJson({ name, removed: true })
  await print(`removed ${name}\n`)
}

async function consents({ client, asJson }: LocalRequest): Promise<void> {
  const known = await client.consents()
  if (asJson) {
    return printJson({
      consents: known.consents.map((consent) => ({ ...consent })),
      questions: known.questions.map((question) => ({ ...question })),
    })
  }
  const rows = [
    ...known.consents.map((consent) => [...rowOf(consent), consent.allowedAt]),
    ...known.questions.map((question) => [...rowOf(question), 'requested, not allowed yet']),
  ]
  await printTable(['ORIGIN', 'AGENT', 'CAPABILITY', 'SINCE'], rows, 'no web page may call a local agent')
}

const rowOf = ({ origin, agent, capability }: Permission): string[] => [origin, agent, capability]

async function allow({ client, args, asJson }: LocalRequest): Promise<void> {
  const [origin = '', agent = '', capability = '*'] = args
  await client.allow({ origin, agent, capability })
  if (asJson) return printJson({ origin, agent, capability })
  await print(`pages of ${origin} may call ${capability === '*' ? 'all capabilities' : capability} of ${agent}\n`)
}

async function revoke({ client, args, asJson }: LocalRequest): Promise<void> {
  const [origin = '', agent, capability] = args
  const filter = { origin, ...(agent !== undefined && { agent }), ...(capability !== undefined && { capability }) }
  const { revoked, refused } = await client.revoke(filter)
  if (asJson) return printJson({ revoked: revoked.map((consent) => ({ ...consent })), refused })
  await print(
    `${origin}: ${plural(revoked.length, 'consent')} revoked${refused > 0 ? `, ${plural(refused, 'request')} refused` : ''}\n`,
  )
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

async function log({ client, asJson }: LocalRequest): Promise<void> {
  const entries = await client.log()
  if (asJson) return printJson([...entries])
  const rows = entries.map(({ at, event, origin, agent, capability, status }) => [
    ...[at, event, agent, capability].map((value) => asString(value) ?? ''),
    typeof status === 'number' ? String(status) : '',
    asString(origin) ?? 'a program',
  ])
  await printTable(['TIME', 'EVENT', 'AGENT', 'CAPABILITY', 'STATUS', 'BY'], rows, 'the log is empty')
}
