import { resolve } from 'node:path'
import { createLocalClient, type Permission } from '@switchboard/local'
import { asString, isObject, type JsonObject } from '@switchboard/protocol'
import { readJson } from '../documents/read-input.js'
import { readText } from '../documents/read-text.js'
import { print, printJson, printTable } from '../terminal/print.js'
import { UsageError } from '../usage.js'

/** What an action of `switchboard local` is given. */
export interface LocalRequest {
  readonly socket: string
  readonly words: readonly string[]
  readonly asJson: boolean
  /** A file. */
  readonly descriptor: string | undefined
}

type Action = (request: LocalRequest) => Promise<void>

/** What can be asked of a runtime that runs, by the word on the command line. */
export const LOCAL_ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['list', list],
  ['add', add],
  ['remove', remove],
  ['consents', consents],
  ['allow', allow],
  ['revoke', revoke],
  ['log', log],
])

async function list({ socket, words, asJson }: LocalRequest): Promise<void> {
  expectWords(words, 0, 0, 'list')
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

async function add({ socket, words, asJson, descriptor: file }: LocalRequest): Promise<void> {
  expectWords(words, 2, 2, 'add NAME URL|SOCKET')
  const [name = '', place = ''] = words
  const target = /^https?:/i.test(place) ? { url: place } : { socket: resolve(place) }
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

async function remove({ socket, words, asJson }: LocalRequest): Promise<void> {
  expectWords(words, 1, 1, 'remove NAME')
  const [name = ''] = words
  await createLocalClient(socket).unregister(name)
  if (asJson) return printJson({ name, removed: true })
  await print(`removed ${name}\n`)
}

async function consents({ socket, words, asJson }: LocalRequest): Promise<void> {
  expectWords(words, 0, 0, 'consents')
  const known = await createLocalClient(socket).consents()
  if (asJson) {
    return printJson({
      consents: known.consents.map((consent) => ({ ...consent })),
      questions: known.questions.map((question) => ({ ...question })),
    })
  }
  const rows = [
    ...known.consents.map((consent) => [...rowOf(consent), consent.allowedAt]),
    ...known.questions.map((question) => [...rowOf(question), 'asked for: not allowed yet']),
  ]
  await printTable(['ORIGIN', 'AGENT', 'CAPABILITY', 'SINCE'], rows, 'no web page may call a local agent')
}

const rowOf = ({ origin, agent, capability }: Permission): string[] => [origin, agent, capability]

async function allow({ socket, words, asJson }: LocalRequest): Promise<void> {
  expectWords(words, 2, 3, 'allow ORIGIN AGENT [CAPABILITY]')
  const [origin = '', agent = '', capability = '*'] = words
  await createLocalClient(socket).allow({ origin, agent, capability })
  if (asJson) return printJson({ origin, agent, capability })
  await print(`pages of ${origin} may call ${capability === '*' ? 'everything' : capability} of ${agent}\n`)
}

async function revoke({ socket, words, asJson }: LocalRequest): Promise<void> {
  expectWords(words, 1, 3, 'revoke ORIGIN [AGENT [CAPABILITY]]')
  const [origin = '', agent, capability] = words
  const filter = { origin, ...(agent !== undefined && { agent }), ...(capability !== undefined && { capability }) }
  const { revoked, refused } = await createLocalClient(socket).revoke(filter)
  if (asJson) return printJson({ revoked: revoked.map((consent) => ({ ...consent })), refused })
  await print(`revoked ${revoked.length} of ${origin}${refused > 0 ? `, and said no to ${refused}` : ''}\n`)
}

async function log({ socket, words, asJson }: LocalRequest): Promise<void> {
  expectWords(words, 0, 0, 'log')
  const entries = await createLocalClient(socket).log()
  if (asJson) return printJson([...entries])
  const rows = entries.map(({ at, event, origin, agent, capability, status }) => [
    ...[at, event, agent, capability].map((value) => asString(value) ?? ''),
    typeof status === 'number' ? String(status) : '',
    asString(origin) ?? 'a program',
  ])
  await printTable(['TIME', 'EVENT', 'AGENT', 'CAPABILITY', 'STATUS', 'BY'], rows, 'nothing has happened yet')
}

function expectWords(words: readonly string[], least: number, most: number, usage: string): void {
  if (words.length < least || words.length > most) throw new UsageError(`use: switchboard local ${usage}`)
}
