import { parseArgs } from 'node:util'
import { readCaFile } from '../settings.js'
import { trustCa } from '../trust-ca.js'
import { UsageError } from '../usage.js'
import { explainUnknownOption } from './did-you-mean.js'
import { operandsOf } from './operands.js'

/** An option of a command. Its help, its completion and its line in the documentation are made from this. */
export interface Option {
  readonly type: 'string' | 'boolean'
  readonly multiple?: boolean
  readonly short?: string
  /** Placeholder of the value in help, such as FILE. */
  readonly value?: string
  readonly text: string
  /** Environment variable with the same meaning. */
  readonly variable?: string
  /** Values that are offered for completion. */
  readonly choices?: readonly string[]
  /** An older name, which works but is not shown. */
  readonly isHidden?: boolean
}

export type Options = Readonly<Record<string, Option>>

/** Parsed options. */
export type Values<O extends Options> = ReturnType<typeof parseArgs<{ allowPositionals: true; options: O }>>['values']

interface Description {
  /** What it does, in one line. */
  readonly summary: string
  /** Further explanation, below the usage. */
  readonly about?: string
}

/** A command that can be run. */
export interface Command extends Description {
  /** The arguments, once for each way to use the command: `FILE|URL`, `[WORDS…]`, `--list`. */
  readonly usage: readonly string[]
  readonly options: Options
  readonly examples: readonly string[]
  run(name: string, args: readonly string[]): Promise<number>
}

/** A command with actions, such as `switchboard keys create`. */
export interface CommandGroup extends Description {
  readonly actions: Readonly<Record<string, Command>>
  /** What runs without an action. */
  readonly main?: Command
}

interface Declaration<O extends Options> extends Omit<Command, 'run' | 'usage'> {
  readonly usage?: string | readonly string[]
  readonly options: O
  run(values: Values<O>, operands: readonly string[]): Promise<number | undefined>
}

/** Declares a command. It returns its exit code; default: 0. */
export function command<const O extends Options>({ run, usage = '', ...rest }: Declaration<O>): Command {
  const lines = typeof usage === 'string' ? [usage] : usage
  return {
    ...rest,
    usage: lines,
    async run(name, args) {
      const { values, positionals } = parse(name, args, rest.options)
      const flags: Readonly<Record<string, unknown>> = values
      const { least, most } = operandsOf(lines)
      const extra = positionals[most]
      if (positionals.length < least || extra !== undefined)
        throw new UsageError(
          `${extra === undefined ? '' : `unexpected "${extra}"; `}use: ${lines.map((line) => `switchboard ${name} ${line}`.trimEnd()).join(', or ')}`,
        )
      const ca = 'ca' in rest.options ? readCaFile(typeof flags.ca === 'string' ? flags.ca : undefined) : undefined
      if (ca !== undefined) await trustCa(ca)
      return (await run(values, positionals)) ?? 0
    },
  }
}

function parse<O extends Options>(
  name: string,
  args: readonly string[],
  options: O,
): { values: Values<O>; positionals: string[] } {
  try {
    return parseArgs({ args: [...args], allowPositionals: true, options })
  } catch (error) {
    throw explainUnknownOption(error, name, options)
  }
}

export const isGroup = (entry: Command | CommandGroup): entry is CommandGroup => 'actions' in entry
