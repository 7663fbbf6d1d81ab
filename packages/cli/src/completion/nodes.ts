import { type Command, type CommandGroup, isGroup, type Option } from '../command/command.js'

/** A place in the command line at which words can be completed. */
export interface CompletionNode {
  /** The commands before the cursor, such as `keys create`; empty at the start. */
  readonly path: string
  /** Commands or actions that can follow. */
  readonly words: readonly Described[]
  readonly options: readonly CompletedOption[]
}

export interface Described {
  readonly name: string
  readonly text: string
}

export interface CompletedOption extends Described {
  readonly short: string | undefined
  /** What follows the option: nothing, one of some words, a file, or text that cannot be completed. */
  readonly value: 'none' | 'file' | 'text' | readonly string[]
}

const HELP: CompletedOption = { name: 'help', text: 'show help', short: 'h', value: 'none' }
const VERSION: CompletedOption = { name: 'version', text: 'print the version', short: undefined, value: 'none' }

/** Everything that can be completed, from the declarations of the commands. */
export function completionNodes(commands: ReadonlyMap<string, Command | CommandGroup>): CompletionNode[] {
  const words = [...commands].map(([name, { summary }]) => ({ name, text: summary }))
  const nodes: CompletionNode[] = [
    { path: '', words: [...words, { name: 'help', text: 'explain a command' }], options: [HELP, VERSION] },
    { path: 'help', words, options: [] },
  ]
  for (const [name, entry] of commands) {
    if (!isGroup(entry)) nodes.push({ path: name, words: [], options: optionsOf(entry) })
    else {
      const actions = Object.entries(entry.actions)
      const described = actions.map(([action, { summary }]) => ({ name: action, text: summary }))
      nodes.push({ path: name, words: described, options: entry.main ? optionsOf(entry.main) : [HELP] })
      nodes.push({ path: `help ${name}`, words: described, options: [] })
      nodes.push(
        ...actions.map(([action, each]) => ({ path: `${name} ${action}`, words: [], options: optionsOf(each) })),
      )
    }
  }
  return nodes
}

const optionsOf = ({ options }: Command): CompletedOption[] => [
  ...Object.entries(options).flatMap(([name, option]) =>
    option.isHidden ? [] : [{ name, text: option.text, short: option.short, value: valueAfter(option) }],
  ),
  HELP,
]

function valueAfter({ type, choices, value = '' }: Option): CompletedOption['value'] {
  if (type === 'boolean') return 'none'
  if (choices) return choices
  return /FILE|FOLDER|PATH/.test(value) ? 'file' : 'text'
}

/** The places that words lead to, as alternatives of a `case` of bash and zsh. */
export const pathPatterns = (nodes: readonly CompletionNode[]): string =>
  nodes.flatMap(({ path, words }) => words.map(({ name }) => quoteWord(`${path} ${name}`))).join(' | ')

/** A text as one word of bash and zsh. */
export const quoteWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
