import { command, type Options } from '../command/command.js'
import { DIRECTORY_OPTIONS } from '../settings.js'
import { FORMAT_OPTIONS } from './register.js'

const OPTIONS = {
  ...FORMAT_OPTIONS,
  bulk: {
    type: 'boolean',
    text: 'send everything to POST /admin/import, which has no limit on registrations; needs an admin key',
  },
  ...DIRECTORY_OPTIONS,
} as const satisfies Options

export const importDocuments = command({
  summary: 'register many agents',
  usage: 'FILE|URL|-…',
  about: `Accepts documents of every format that register accepts, lists of an MCP registry, catalogs (ard.json, ai-catalog.json), lists and dumps of directories (JSON), and lines of JSON (.ndjson, .jsonl). A URL is a document, or a host: all agents of its agents.json or ard.json are registered, or the one found there. Documents that a catalog refers to are fetched. A document that fails is reported and does not stop the others; the exit code is then 1. If the directory limits registrations, the import waits as long as it is told to.`,
  options: OPTIONS,
  examples: [
    'switchboard import cards/*.json',
    'switchboard import dump.ndjson --bulk --token $ADMIN_KEY',
    'switchboard import https://agents.example/',
  ],
  async run(values, sources) {
    const { importSources } = await import('../documents/import-sources.js')
    return importSources(values, sources)
  },
})
