import type { AgentSummary, SearchPage, SearchRequest } from '@switchboard/client'
import { command, type Options, type Values } from '../command/command.js'
import { openDiscovery } from '../directory.js'
import { readNumber } from '../read-number.js'
import { DIRECTORY_OPTIONS } from '../settings.js'
import { formatEvidence } from '../terminal/evidence.js'
import { print, printJson, printTable, remark, terminalWidth } from '../terminal/print.js'
import { styleFor } from '../terminal/style.js'
import { UsageError } from '../usage.js'

/** Agents per request. */
const PAGE_SIZE = 100

const OPTIONS = {
  tag: { type: 'string', multiple: true, value: 'TAG', text: 'only agents with this tag' },
  capability: { type: 'string', multiple: true, value: 'NAME', text: 'only agents with this capability' },
  filter: { type: 'string', multiple: true, value: 'NAME=TEXT', text: 'only agents whose metadata has this value' },
  exact: { type: 'boolean', text: 'search for the words as they are written: do not correct typos' },
  why: { type: 'boolean', text: 'say why each agent was found: the parts of its score, and what of its text matches' },
  explain: { type: 'boolean', text: 'the older name of --why', isHidden: true },
  limit: { type: 'string', value: 'N', text: 'maximum number of results (20)' },
  ...DIRECTORY_OPTIONS,
} as const satisfies Options

export const search = command({
  summary: 'find agents',
  usage: '[WORDS…]',
  options: OPTIONS,
  examples: [
    'switchboard search translate a contract into Chinese',
    'switchboard search --why summarise a meeting',
    'switchboard search --tag hr --json',
  ],
  run: find,
})

async function find(values: Values<typeof OPTIONS>, positionals: readonly string[]): Promise<number> {
  const limit = readNumber('--limit', values.limit, { least: 1, most: 10_000 }) ?? 20
  const filters = {
    ...(values.tag && { tags: values.tag }),
    ...(values.capability && { capabilities: values.capability }),
    ...Object.fromEntries((values.filter ?? []).map(readFilter)),
  }
  const query = positionals.join(' ')
  const isExplained = values.why === true || values.explain === true
  const request: SearchRequest = {
    top: Math.min(limit, PAGE_SIZE),
    ...(query !== '' && { query }),
    ...(values.exact && { exact: true }),
    ...(isExplained && { explain: true }),
    ...(Object.keys(filters).length > 0 && { filters }),
  }
  const agents: AgentSummary[] = []
  let isFirst = true
  for await (const page of (await openDiscovery(values)).search(request).pages()) {
    if (isFirst) remarkSpelling(page)
    isFirst = false
    for (const warning of page.warnings) remark(`warning: ${warning}`)
    if (isExplained && page.searchId !== undefined && agents.length === 0) remark(`search id: ${page.searchId}`)
    agents.push(...page.agents.slice(0, limit - agents.length))
    if (agents.length >= limit) break
  }
  if (values.json) await printJson(agents.map(({ document }) => document))
  else if (isExplained && agents.length > 0) {
    const layout = { style: styleFor(process.stdout), width: terminalWidth() }
    await print(agents.map((agent) => formatEvidence(agent, layout)).join('\n'))
  } else await printTable(['ID', 'NAME', 'SCORE', 'DESCRIPTION'], agents.map(toRow), 'no agents found')
  return 0
}

function remarkSpelling({ corrected, suggestions }: SearchPage): void {
  for (const { from, to } of corrected) remark(`searched for "${to}" instead of "${from}" (--exact to keep it)`)
  if (suggestions.length > 0) remark(`no agent contains these words; similar ones: ${suggestions.join(', ')}`)
}

const toRow = ({ id, name, score, description }: AgentSummary): string[] => [
  id,
  name,
  score === undefined ? '' : score.toFixed(2),
  description,
]

function readFilter(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw new UsageError(`--filter must be NAME=TEXT, not "${text}"`)
  return [name, value]
}
