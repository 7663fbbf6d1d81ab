import type { MovedData, MoveOptions } from '@switchboard/server'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJson } from '../terminal/print.js'
import { createProgressBar } from '../terminal/progress-bar.js'
import { CommandError } from '../usage.js'

/** Moves data with a progress bar; Ctrl-C ends it without a trace. */
export async function moveWithProgress<Moved extends MovedData>(
  work: (options: Required<MoveOptions>) => Promise<Moved>,
): Promise<Moved> {
  const signal = untilInterrupted()
  const bar = createProgressBar(process.stderr)
  try {
    return await work({ signal, onProgress: (rows, total) => bar.show(rows, total, 0) })
  } catch (error) {
    if (signal.aborted) throw new CommandError('interrupted; nothing was changed')
    throw error
  } finally {
    bar.clear()
  }
}

/** Reports what was moved: a line for people, or JSON. */
export async function reportMoved(
  done: string,
  { agents, rows }: MovedData,
  asJson: boolean | undefined,
  facts: Record<string, string> = {},
): Promise<void> {
  if (asJson) await printJson({ agents, rows, ...facts })
  else await print(`${done}: ${agents} ${agents === 1 ? 'agent' : 'agents'}, ${rows} rows in total\n`)
}
