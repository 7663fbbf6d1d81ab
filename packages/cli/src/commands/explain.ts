import type { AgentSummary, DiscoveryClient } from '@switchboard/client'
import { toDisplayText } from '@switchboard/client/display-text'
import { asString, type JsonObject } from '@switchboard/protocol/json'
import { isClientError } from '../client-error.js'
import { command } from '../command/command.js'
import { openDiscovery } from '../directory.js'
import { DIRECTORY_OPTIONS } from '../settings.js'
import { formatEvidence } from '../terminal/evidence.js'
import { print, printJson, terminalWidth } from '../terminal/print.js'
import { styleFor } from '../terminal/style.js'
import { CommandError } from '../usage.js'

/** Results among which the agent is looked for. */
const MAX_RANK = 1000
/** Agents per request. */
const PAGE_SIZE = 100

export const explain = command({
  summary: 'say why a search finds an agent, or why it does not',
  usage: 'WORDS… AGENT',
  about: `Prints the rank of the agent among the results, and what its score consists of. The exit code is 1 if the search does not find it.`,
  options: DIRECTORY_OPTIONS,
  examples: ['switchboard explain translate a contract into Chinese translator'],
  async run(values, operands) {
    const [agent = '', query] = [operands.at(-1), operands.slice(0, -1).join(' ')]
    const directory = await openDiscovery(values)
    const found = await findRank(directory, query, agent)
    if (found) {
      const { rank, total, summary } = found
      if (values.json)
        await printJson({ found: true, rank, ...(total !== undefined && { total }), ...summary.document })
      else
        await print(
          `number ${rank}${total === undefined ? '' : ` of ${total}`} for "${toDisplayText(query)}"\n\n${draw(summary)}`,
        )
      return 0
    }
    const { reason, summary } = await whyNot(directory, query, agent)
    if (values.json) await printJson({ found: false, reason, ...summary?.document })
    else await print(`not found for "${toDisplayText(query)}": ${reason}\n${summary ? `\n${draw(summary)}` : ''}`)
    return 1
  },
})

const draw = (summary: AgentSummary): string =>
  formatEvidence(summary, { style: styleFor(process.stdout), width: terminalWidth() })

interface Rank {
  readonly rank: number
  readonly total: number | undefined
  readonly summary: AgentSummary
}

async function findRank(directory: DiscoveryClient, query: string, agent: string): Promise<Rank | undefined> {
  let seen = 0
  for await (const { agents, total } of directory.search({ query, top: PAGE_SIZE, explain: true }).pages()) {
    const at = agents.findIndex(({ id }) => id === agent)
    const summary = agents[at]
    if (summary) return { rank: seen + at + 1, total, summary }
    seen += agents.length
    if (seen >= MAX_RANK) return undefined
  }
  return undefined
}

interface Absence {
  readonly reason: string
  /** The agent as a search among it alone shows it. */
  readonly summary?: AgentSummary
}

async function whyNot(directory: DiscoveryClient, query: string, agent: string): Promise<Absence> {
  const document = await directory.get(agent).catch((error: unknown): JsonObject => {
    if (!(isClientError(error) && error.code === 'not_found')) throw error
    throw new CommandError(`there is no agent "${agent}" that you may see`)
  })
  const status = asString(document.status)
  // A filter by id also finds what searches leave out.
  const { agents } = await directory.search({ query, filters: { id: agent }, top: 1, explain: true })
  const [summary] = agents
  if (!summary) return { reason: whyNoMatch(query) }
  if (status === 'inactive' || status === 'suspended')
    return { reason: `searches leave out agents that are ${status}`, summary }
  return { reason: `it is not among the first ${MAX_RANK} results`, summary }
}

const whyNoMatch = (query: string): string =>
  `none of its texts has a word of "${toDisplayText(query)}" that counts, and none is similar enough in meaning. Describe the task in its description, or add it as an example`
