import { resolve } from 'node:path'
import { createLocalClient, type Permission } from '@switchboard/local'
import { asString, isObject, type JsonObject } from '@switchboard/protocol'
import { readJson } from '../documents/read-input.js'
import { readText } from '../documents/read-text.js'
import { print, printJson, printTable } from '../terminal/print.js'
import { UsageError } from '../usage.js'

/** The arguments of an action of `switchboard local`. */
export interface LocalRequest {
  readonly socket: string
  readonly args: readonly string[]
  readonly asJson: boolean
  /** Path of a file. */
  readonly descriptor: string | undefined
}

type Action = (request: LocalRequest) => Promise<void>

/** The actions on a running runtime, by name. */
export const LOCAL_ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['list', list],
  ['add', add],
  ['remove', remove],
  ['consents', consents],
  ['allow', allow],
  ['revoke', revoke],
  ['log', log],
])

async function list({ socket, args, asJson }: LocalRequest): Promise<void> {
  checkCount(args, 0, 0, 'list')
  const agents = await createLocalClient(socket).agents()
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

async function add({ socket, args, asJson, descriptor: file }: LocalRequest): Promise<void> {
  checkCount(args, 2, 2, 'add NAME URL|SOCKET')
  const [name = '', address = ''] = args
  const target = /^https?:/i.test(address) ? { url: address } : { socket: resolve(address) }
  const descriptor = file === undefined ? {} : { descriptor: await readDescriptor(file) }
  const agent = await createLocalClient(socket).register(name, { ...target, ...descriptor })
  if (asJson) return printJson({ name: agent.name, uri: `agent+local://${agent.name}` })
  await print(`agent+local://${agent.name} is registered: ${agent.capabilities.join(', ') || 'no capabilities'}\n`)
}

async function readDescriptor(file: string): Promise<JsonObject> {
  const value = readJson(await readText(file), file)
  if (isObject(value)) return value
  throw new UsageError(`${file} must be a JSON object`)
}

async function remove({ socket, args, asJson }: LocalRequest): Promise<void> {
  checkCount(args, 1, 1, 'remove NAME')
  const [name = ''] = args
  await createLocalClient(socket).unregister(name)
  if (asJson) return printJson({ name, removed: true })
  await print(`removed ${name}\n`)
}

async function consents({ socket, args, asJson }: LocalRequest): Promise<void> {
  checkCount(args, 0, 0, 'consents')
  const known = await createLocalClient(socket).consents()
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

async function allow({ socket, args, asJson }: LocalRequest): Promise<void> {
  checkCount(args, 2, 3, 'allow ORIGIN AGENT [CAPABILITY]')
  const [origin = '', agent = '', capability = '*'] = args
  await createLocalClient(socket).allow({ origin, agent, capability })
  if (asJson) return printJson({ origin, agent, capability })
  await print(`pages of ${origin} may call ${capability === '*' ? 'all capabilities' : capability} of ${agent}\n`)
}

async function revoke({ socket, args, asJson }: LocalRequest): Promise<void> {
  checkCount(args, 1, 3, 'revoke ORIGIN [AGENT [CAPABILITY]]')
  const [origin = '', agent, capability] = args
  const filter = { origin, ...(agent !== undefined && { agent }), ...(capability !== undefined && { capability }) }
  const { revoked, refused } = await createLocalClient(socket).revoke(filter)
  if (asJson) return printJson({ revoked: revoked.map((consent) => ({ ...consent })), refused })
  await print(
    `${origin}: ${plural(revoked.length, 'consent')} revoked${refused > 0 ? `, ${plural(refused, 'request')} refused` : ''}\n`,
  )
}

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

async function log({ socket, args, asJson }: LocalRequest): Promise<void> {
  checkCount(args, 0, 0, 'log')
  const entries = await createLocalClient(socket).log()
  if (asJson) return printJson([...entries])
  const rows = entries.map(({ at, event, origin, agent, capability, status }) => [
    ...[at, event, agent, capability].map((value) => asString(value) ?? ''),
    typeof status === 'number' ? String(status) : '',
    asString(origin) ?? 'a program',
  ])
  await printTable(['TIME', 'EVENT', 'AGENT', 'CAPABILITY', 'STATUS', 'BY'], rows, 'the log is empty')
}

function checkCount(args: readonly string[], least: number, most: number, usage: string): void {
  if (args.length < least || args.length > most) throw new UsageError(`use: switchboard local ${usage}`)
}
