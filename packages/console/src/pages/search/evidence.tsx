import { type AgentSummary, type Evidence, toDisplayText } from '@switchboard/client/discovery'
import { asObjects, asString } from '@switchboard/protocol/json'
import type { ReactNode } from 'react'
import { strings } from '../../strings.js'
import { Highlighted } from './highlight.js'

const { search } = strings

/** The words that matched, and what foreign ones mean in English, which is what the agent's text may contain. */
export function wordsOf({ evidence }: AgentSummary): string[] {
  if (!evidence) return []
  const meanings = evidence.explanation
    .filter(({ component }) => component === 'words')
    .flatMap(({ text }) => Array.from(text.matchAll(/\(([^()]+)\)/g), ([, meaning = '']) => meaning))
  return [...evidence.matchedWords, ...meanings]
}

interface MatchProps {
  readonly agent: AgentSummary
  readonly words: readonly string[]
}

/** The operation or example that matched best, or a sentence that is shown nowhere else. */
export function Passage({ agent, words }: MatchProps): ReactNode {
  const passage = passageOf(agent)
  if (!passage) return null
  return (
    <p className="search-passage">
      {passage.kind && <span className="search-passage-kind">{search.components[passage.kind]}</span>}
      <Highlighted text={passage.text} words={words} />
    </p>
  )
}

function passageOf({
  evidence,
  description,
  document,
}: AgentSummary): { readonly kind?: 'operation' | 'example'; readonly text: string } | undefined {
  if (!evidence) return undefined
  for (const { component, text } of evidence.explanation)
    if ((component === 'operation' || component === 'example') && text !== '') return { kind: component, text }
  // A single word is a tag or a capability, which are shown anyway.
  const text = evidence.snippets.find((snippet) => !description.includes(snippet) && /\s/.test(snippet.trim()))
  if (text === undefined) return undefined
  const isOperation = asObjects(document.operations).some(({ name }) => text.startsWith(`${asString(name)}:`))
  return { text, ...(isOperation && { kind: 'operation' }) }
}

/** The score of a result as a bar, and behind it a table of its parts, which add up to it. */
export function ScoreDetails({ agent, words }: MatchProps): ReactNode {
  const { score, evidence } = agent
  if (score === undefined || !evidence || evidence.explanation.length === 0) return null
  const steps = stepsOf(evidence)
  return (
    <details className="search-why">
      <summary>
        <span className="search-score" aria-hidden="true">
          <Bar component="sum" value={score} from={0} />
        </span>
        <span>{search.why(score.toFixed(2))}</span>
      </summary>
      <table>
        <thead className="search-hidden">
          <tr>
            <th scope="col">{search.table.component}</th>
            <th scope="col">{search.table.value}</th>
            <th scope="col">{search.table.text}</th>
          </tr>
        </thead>
        <tbody>
          {steps.map(({ component, value, from, text }) => (
            <tr key={component}>
              <th scope="row">{labelOf(component)}</th>
              <td className="search-number">
                <span className="search-score" aria-hidden="true">
                  <Bar component={component} value={value} from={from} />
                </span>
                {signed(value)}
              </td>
              <td>
                <Highlighted text={text} words={words} />
              </td>
            </tr>
          ))}
          <tr className="search-sum">
            <th scope="row">{search.table.sum}</th>
            <td className="search-number">
              <span className="search-score" aria-hidden="true">
                <Bar component="sum" value={score} from={0} />
              </span>
              {score.toFixed(4)}
            </td>
            <td />
          </tr>
        </tbody>
      </table>
    </details>
  )
}

/** One step of the way from 0 to the score; a negative one goes back. */
function Bar({
  component,
  value,
  from,
}: {
  readonly component: string
  readonly value: number
  readonly from: number
}): ReactNode {
  const toPercent = (part: number): string => `${Math.max(0, Math.min(1, part)) * 100}%`
  return (
    <span
      className="search-bar"
      data-component={value < 0 ? 'loss' : component}
      style={{ insetInlineStart: toPercent(Math.min(from, from + value)), inlineSize: toPercent(Math.abs(value)) }}
    />
  )
}

interface Step {
  readonly component: string
  readonly value: number
  readonly text: string
  /** The sum of the values before. */
  readonly from: number
}

/** Gains before losses, so that bars lie side by side. */
function stepsOf({ explanation }: Evidence): Step[] {
  let sum = 0
  return [...explanation]
    .sort((a, b) => b.value - a.value)
    .map(({ component, value, text }) => {
      const from = sum
      sum += value
      return { component, value, text, from }
    })
}

const labelOf = (component: string): string =>
  Object.entries(search.components).find(([name]) => name === component)?.[1] ?? toDisplayText(component)

const signed = (value: number): string => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(4)}`
