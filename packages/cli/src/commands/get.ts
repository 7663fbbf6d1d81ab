import { parseArgs } from 'node:util'
import type { AgentView } from '@switchboard/client'
import { asString, detectFormat, type JsonObject, readRecord } from '@switchboard/protocol'
import { openDirectory } from '../directory.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { print, printFacts, printJson } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard get: show an agent

  switchboard get ID

  --view VIEW        document format: aidip (default), profile, descriptor, a2a or mcp
${DIRECTORY_HELP}

Example:
  switchboard get translator --view a2a --json
`

const VIEWS: readonly AgentView[] = ['aidip', 'profile', 'descriptor', 'a2a', 'mcp']

export async function get(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...DIRECTORY_FLAGS, view: { type: 'string' } },
  })
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [id, ...more] = positionals
  if (id === undefined || more.length > 0) throw new UsageError('name one agent: switchboard get ID')
  const view = VIEWS.find((name) => name === (values.view ?? 'aidip'))
  if (!view) throw new UsageError(`--view must be one of ${VIEWS.join(', ')}, not "${values.view}"`)
  const document = await openDirectory(values).get(id, { view })
  if (values.json) await printJson(document)
  else await printFacts(factsOf(id, document))
  return 0
}

function factsOf(id: string, document: JsonObject): [string, string | undefined][] {
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
