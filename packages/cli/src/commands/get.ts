import type { AgentView, DiscoveryClient } from '@switchboard/client'
import { asString, type JsonObject } from '@switchboard/protocol/json'
import { command } from '../command/command.js'
import { openDiscovery } from '../directory.js'
import { DIRECTORY_OPTIONS } from '../settings.js'
import { printFacts, printJson } from '../terminal/print.js'
import { CommandError, UsageError } from '../usage.js'

/** Reads the document of an agent as one of the drafts has it. */
type ReadView = (directory: DiscoveryClient, id: string) => Promise<JsonObject>

const readView =
  (view: AgentView): ReadView =>
  (directory, id) =>
    directory.get(id, { view })

/** The client adds the id, which these formats do not have. */
const readCard =
  (view: AgentView): ReadView =>
  async (directory, id) => {
    const { id: _added, ...card } = await directory.get(id, { view })
    return card
  }

const VIEWS = new Map<string, ReadView>([
  ['aidip', readView('aidip')],
  ['aidip-00', readView('aidip-00')],
  ['profile', readView('profile')],
  ['ad', readEntry],
  ['agent.json', readView('descriptor')],
  ['a2a', readCard('a2a')],
  ['mcp', readCard('mcp')],
])
/** Names of the formats of documents (--format) also name their views. */
const ALIASES = new Map([
  ['descriptor', 'agent.json'],
  ['directory', 'ad'],
])

export const get = command({
  summary: 'show an agent',
  usage: 'ID',
  about: 'Prints a summary. With --view it prints the document, as JSON.',
  options: {
    view: {
      type: 'string',
      value: 'VIEW',
      text: `the document as ${[...VIEWS.keys()].join(', ')}`,
      choices: [...VIEWS.keys()],
    },
    ...DIRECTORY_OPTIONS,
  },
  examples: ['switchboard get translator', 'switchboard get translator --view a2a'],
  async run(values, [id = '']) {
    const { view = 'aidip' } = values
    const read = VIEWS.get(ALIASES.get(view) ?? view)
    if (!read) throw new UsageError(`--view must be one of ${[...VIEWS.keys()].join(', ')}, not "${view}"`)
    const document = await read(await openDiscovery(values), id)
    if (values.json || values.view !== undefined) await printJson(document)
    else await printFacts(await factsOf(id, document))
    return 0
  },
})

/** The entry of the Agent Directory, which can only be looked up. */
async function readEntry(directory: DiscoveryClient, id: string): Promise<JsonObject> {
  for await (const { agent, document } of directory.lookup({ agent: id })) if (agent === id) return document
  throw new CommandError(`there is no agent "${id}" in the directory`)
}

async function factsOf(id: string, document: JsonObject): Promise<[string, string | undefined][]> {
  const { detectFormat, readRecord } = await import('@switchboard/protocol/documents')
  const record = readRecord(detectFormat(document) ?? 'descriptor', document, id)
  return [
    ['id', id],
    ['name', record.name],
    ['description', record.description],
    ['version', record.version],
    ['publisher', record.publisher],
    ['status', record.status],
    ['capabilities', record.capabilities.map(({ name }) => name).join(', ')],
    ['tags', record.tags.join(', ')],
    ...record.bindings.map(({ protocol, endpoint }): [string, string] => [`endpoint (${protocol})`, endpoint]),
    ['expires', asString(document.expires_at)],
    ['registered at', asString(document.origin_service)],
  ]
}
