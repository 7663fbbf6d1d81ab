import { once } from 'node:events'
import { toDisplayText } from '@switchboard/client/display-text'
import type { JsonValue } from '@switchboard/protocol'
import stringWidth from 'string-width'
import { fitColumns, padColumns } from './columns.js'
import { printableJson } from './printable.js'
import { PLAIN, type Style, styleFor } from './style.js'

/** Writes to stdout, and waits for a slow reader. */
export async function print(text: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** Indented JSON, for programs and people. */
export const printJson = (value: JsonValue): Promise<void> => print(`${printableJson(value, 2)}\n`)

/** JSON on one line, as one of many. */
export const printJsonLine = (value: JsonValue): Promise<void> => print(`${printableJson(value)}\n`)

/** A message for the user on stderr, apart from the output. */
export function remark(text: string): void {
  process.stderr.write(`${styleFor(process.stderr).yellow('switchboard:')} ${toDisplayText(text)}\n`)
}

/** Widest cell, in columns of the terminal. */
const MAX_CELL = 60
/** Narrowest cell to which others are cut so that all columns fit. */
const MIN_CELL = 8
/** Between the columns of a table. */
const GAP = '  '

/** Aligns rows below their titles. The last column takes the rest of the line; all are cut to fit `width` columns. */
export function formatTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  { width, style = PLAIN }: { readonly width?: number | undefined; readonly style?: Style } = {},
): string {
  const all = [titles, ...rows].map((row) => row.map(toDisplayText))
  const natural = titles.map((_, column) => Math.max(...all.map((row) => stringWidth(row[column] ?? ''))))
  const widths = fitWidths(
    natural.map((each, column) => (column < titles.length - 1 ? Math.min(each, MAX_CELL) : each)),
    width,
  )
  const lines = all.map((row, index) => {
    const cells = row.map((cell, column) => padColumns(fitColumns(cell, widths[column] ?? 0), widths[column] ?? 0))
    const line = fitColumns(cells.join(GAP).trimEnd(), width ?? Number.POSITIVE_INFINITY)
    return index === 0 ? style.bold(line) : line
  })
  return `${lines.join('\n')}\n`
}

/** Takes columns from the widest cells until the line fits. */
function fitWidths(natural: readonly number[], width = Number.POSITIVE_INFINITY): number[] {
  const widths = natural.map((each) => Math.min(each, width))
  const gaps = GAP.length * (widths.length - 1)
  for (let excess = widths.reduce((sum, each) => sum + each, gaps) - width; excess > 0; excess--) {
    const widest = Math.max(...widths)
    if (widest <= MIN_CELL) break
    // The last one first: it is usually a description.
    widths[widths.lastIndexOf(widest)] = widest - 1
  }
  return widths
}

/** Columns of the terminal; undefined if stdout is not one. */
export const terminalWidth = (): number | undefined => (process.stdout.isTTY ? process.stdout.columns : undefined)

/** Prints a table, cut to the width of the terminal if there is one; without rows, prints `none`. */
export function printTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): Promise<void> {
  if (rows.length === 0) return print(`${none}\n`)
  return print(formatTable(titles, rows, { width: terminalWidth(), style: styleFor(process.stdout) }))
}

/** Prints names and values, one pair a line; undefined values are left out. */
export function printFacts(facts: readonly (readonly [name: string, value: string | undefined])[]): Promise<void> {
  const known = facts.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[toDisplayText(name), toDisplayText(value)] as const],
  )
  const width = Math.max(...known.map(([name]) => stringWidth(name)))
  const { cyan } = styleFor(process.stdout)
  return print(known.map(([name, value]) => `${cyan(padColumns(name, width))}  ${value}\n`).join(''))
}
