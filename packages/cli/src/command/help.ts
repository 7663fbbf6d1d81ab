import stringWidth from 'string-width'
import { padColumns } from '../terminal/columns.js'
import type { Style } from '../terminal/style.js'
import type { Command, CommandGroup, Option, Options } from './command.js'
import { isGroup } from './command.js'

/** Widest line of help, in columns. */
const MAX_WIDTH = 110
/** Widest column of terms. */
const MAX_TERM = 34

export interface HelpLayout {
  /** Columns of the terminal. */
  readonly width?: number | undefined
  readonly style: Style
}

/** The help of a command or of a group. */
export function helpFor(name: string, entry: Command | CommandGroup, layout: HelpLayout): string {
  return (isGroup(entry) ? groupHelp(name, entry, layout) : commandHelp(name, entry, layout)).join('\n')
}

function commandHelp(
  name: string,
  { summary, usage, about, options, examples }: Command,
  layout: HelpLayout,
): string[] {
  const { style } = layout
  return [
    `${style.bold(`switchboard ${name}`)}: ${summary}`,
    '',
    ...usage.map((line) => `  switchboard ${name} ${line}`.trimEnd()),
    '',
    ...paragraph(about, layout),
    ...columns(optionTerms(options), layout),
    '',
    ...exampleLines(examples, style),
  ]
}

function groupHelp(name: string, { summary, about, actions, main }: CommandGroup, layout: HelpLayout): string[] {
  const { style } = layout
  const all = Object.entries(actions)
  const uses: Term[] = [
    ...(main ? [[`switchboard ${name}`, main.summary] as const] : []),
    ...all.map(([action, each]) => [`switchboard ${name} ${action} ${each.usage[0]}`.trimEnd(), each.summary] as const),
  ]
  const examples = [...(main?.examples ?? []), ...all.flatMap(([, each]) => each.examples.slice(0, 1))]
  return [
    `${style.bold(`switchboard ${name}`)}: ${summary}`,
    '',
    ...columns(uses, layout),
    '',
    ...paragraph(about, layout),
    ...(main ? [...columns(optionTerms(main.options), layout), ''] : []),
    `The options of each are in its own help: switchboard ${name} ${all[0]?.[0]} --help`,
    '',
    ...exampleLines(examples, style),
  ]
}

const exampleLines = (examples: readonly string[], style: Style): string[] => [
  style.bold(examples.length === 1 ? 'Example:' : 'Examples:'),
  ...examples.map((line) => `  ${line}`),
  '',
]

type Term = readonly [term: string, text: string]

/** The options that are shown, as terms and their meaning. */
export const optionTerms = (options: Options): Term[] =>
  Object.entries(options).flatMap(([name, option]) =>
    option.isHidden ? [] : [[optionTerm(name, option), optionText(option)] as const],
  )

export const optionTerm = (name: string, { short, value }: Option): string =>
  `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`

const optionText = ({ text, multiple, variable }: Option): string =>
  `${text}${multiple ? '; repeatable' : ''}${variable === undefined ? '' : ` [env: ${variable}]`}`

/** Terms and their texts in two columns; long texts are wrapped, and long terms have a line of their own. */
export function columns(terms: readonly Term[], { width = MAX_WIDTH, style }: HelpLayout): string[] {
  const widest = Math.max(0, ...terms.map(([term]) => stringWidth(term)).filter((each) => each <= MAX_TERM))
  const indent = ' '.repeat(widest + 4)
  return terms.flatMap(([term, text]) => {
    const [first = '', ...rest] = wrap(text, Math.min(width, MAX_WIDTH) - indent.length)
    const more = rest.map((line) => indent + line)
    if (stringWidth(term) > widest) return [`  ${style.cyan(term)}`, indent + first, ...more]
    return [`  ${style.cyan(padColumns(term, widest))}  ${first}`.trimEnd(), ...more]
  })
}

const paragraph = (text: string | undefined, { width = MAX_WIDTH }: HelpLayout): string[] =>
  text === undefined ? [] : [...text.split('\n').flatMap((line) => wrap(line, Math.min(width, MAX_WIDTH))), '']

/** Narrowest column of wrapped text. */
const MIN_WRAP = 24

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && stringWidth(line) + 1 + stringWidth(word) > Math.max(width, MIN_WRAP)) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
