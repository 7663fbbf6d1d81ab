import type { AgentSummary, ScoreComponent } from '@switchboard/client'
import { toDisplayText } from '@switchboard/client/display-text'
import { asObjects, asString, type JsonObject } from '@switchboard/protocol/json'
import { fitColumns, padColumns } from './columns.js'
import type { Style } from './style.js'

/** Columns of a bar for a score of 1. */
const BAR_COLUMNS = 20
const NAME_COLUMNS = 12

/** An agent, the parts of its score as bars that add up to it, and what of its text matches the query. */
export function formatEvidence(
  { id, name, score, evidence, document }: AgentSummary,
  { style, width = Number.POSITIVE_INFINITY }: { readonly style: Style; readonly width?: number | undefined },
): string {
  const { explanation = [], snippets = [], matchedWords = [] } = evidence ?? {}
  const title = [id, score?.toFixed(4) ?? '', name].map(toDisplayText).join('  ')
  const facts: [string, string][] = [
    ...(matchedWords.length > 0 ? [['matched', matchedWords.join(', ')] as [string, string]] : []),
    ...correctionsIn(document).map((text): [string, string] => ['corrected', text]),
    ...snippets.map((text): [string, string] => ['text', text]),
  ]
  return [
    style.bold(fitColumns(title, width)),
    ...formatBars(explanation, style, width),
    ...facts.map(([term, text]) => fitColumns(`  ${padColumns(term, NAME_COLUMNS)}${toDisplayText(text)}`, width)),
    '',
  ].join('\n')
}

/** Each bar starts where the one before it ends; a part that lowers the score goes back. */
function formatBars(explanation: readonly ScoreComponent[], style: Style, width: number): string[] {
  let sum = 0
  // Those that raise the score first, so that no bar starts below 0.
  return [...explanation]
    .sort((a, b) => b.value - a.value)
    .map(({ component, value, text }) => {
      const [from, to] = [columnOf(Math.min(sum, sum + value)), columnOf(Math.max(sum, sum + value))]
      sum += value
      const bar = ' '.repeat(from) + (value < 0 ? '░' : '█').repeat(Math.max(1, to - from))
      const amount = `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(4)}`
      const [start, end] = [`  ${padColumns(component, NAME_COLUMNS)}`, `${amount}  ${toDisplayText(text)}`]
      const rest = fitColumns(end, Math.max(0, width - start.length - BAR_COLUMNS - 3))
      return `${start}${style[value < 0 ? 'red' : 'green'](padColumns(bar, BAR_COLUMNS + 1))}  ${rest}`.trimEnd()
    })
}

const columnOf = (score: number): number => Math.round(Math.min(1, Math.max(0, score)) * BAR_COLUMNS)

const correctionsIn = ({ corrected_words: corrected }: JsonObject): string[] =>
  asObjects(corrected).map(({ from, to }) => `"${asString(to)}" instead of "${asString(from)}"`)
