import { parseArgs } from 'node:util'
import type { AgentSummary, SearchPage, SearchRequest } from '@switchboard/client'
import { openDirectory } from '../directory.js'
import { readNumber } from '../read-number.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { formatTable, print, printJson, printTable, remark } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard search: find agents in a directory

  switchboard search [WORDS…]

  --tag TAG          only agents with this tag; repeatable
  --capability NAME  only agents with this capability; repeatable
  --filter NAME=TEXT only agents whose metadata has this value; repeatable
  --exact            search for the words as they are written: do not correct typos
  --explain          say why each agent was found, and what its score consists of
  --limit N          maximum number of results (20)
${DIRECTORY_HELP}

Examples:
  switchboard search translate a contract into Chinese
  switchboard search --tag hr --json
`

/** Agents per request. */
const PAGE_SIZE = 100

export async function search(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      ...DIRECTORY_FLAGS,
      tag: { type: 'string', multiple: true },
      capability: { type: 'string', multiple: true },
      filter: { type: 'string', multiple: true },
      exact: { type: 'boolean' },
      explain: { type: 'boolean' },
      limit: { type: 'string' },
    },
  })
  if (values.help) {
    await print(HELP)
    return 0
  }
  const limit = readNumber('--limit', values.limit, { least: 1, most: 10_000 }) ?? 20
  const filters = {
    ...(values.tag && { tags: values.tag }),
    ...(values.capability && { capabilities: values.capability }),
    ...Object.fromEntries((values.filter ?? []).map(readFilter)),
  }
  const query = positionals.join(' ')
  const request: SearchRequest = {
    top: Math.min(limit, PAGE_SIZE),
    ...(query !== '' && { query }),
    ...(values.exact && { exact: true }),
    ...(values.explain && { explain: true }),
    ...(Object.keys(filters).length > 0 && { filters }),
  }
  const agents: AgentSummary[] = []
  let isFirst = true
  for await (const page of openDirectory(values).search(request).pages()) {
    if (isFirst) remarkSpelling(page)
    isFirst = false
    for (const warning of page.warnings) remark(`warning: ${warning}`)
    if (values.explain && page.searchId !== undefined && agents.length === 0) remark(`search id: ${page.searchId}`)
    agents.push(...page.agents.slice(0, limit - agents.length))
    if (agents.length >= limit) break
  }
  if (values.json) await printJson(agents.map(({ document }) => document))
  else if (values.explain && agents.length > 0) await print(agents.map(explain).join('\n'))
  else await printTable(['ID', 'NAME', 'SCORE', 'DESCRIPTION'], agents.map(toRow), 'no agents found')
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

/** An agent, what its score consists of, and what of its text matches. */
function explain({ id, name, score, evidence }: AgentSummary): string {
  const { explanation = [], snippets = [] } = evidence ?? {}
  const reasons = explanation.map(({ component, value, text }) => [
    `  ${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(4)}`,
    component,
    text,
  ])
  const texts = snippets.map((text) => ['', 'text', text])
  return formatTable([id, score?.toFixed(4) ?? '', name], [...reasons, ...texts], process.stdout.columns)
}

function readFilter(text: string): [string, string] {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined) throw new UsageError(`--filter must be NAME=TEXT, not "${text}"`)
  return [name, value]
}
