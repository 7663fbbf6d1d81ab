import { once } from 'node:events'
import { toDisplayText } from '@switchboard/client'
import type { JsonValue } from '@switchboard/protocol'
import stringWidth from 'string-width'
import { fitColumns, padColumns } from './columns.js'
import { printableJson } from './printable.js'

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
  process.stderr.write(`switchboard: ${toDisplayText(text)}\n`)
}

/** Widest cell, in columns of the terminal. */
const MAX_CELL = 60

/** Aligns rows below their titles; the last cell takes the rest of the line, which is cut to `width` columns. */
export function formatTable(titles: readonly string[], rows: readonly (readonly string[])[], width?: number): string {
  const all = [titles, ...rows].map((row) => row.map(toDisplayText))
  const widths = titles.map((_, column) =>
    Math.min(MAX_CELL, Math.max(...all.map((row) => stringWidth(row[column] ?? '')))),
  )
  const lines = all.map((row) => {
    const cells = row.map((cell, column) =>
      column === titles.length - 1 ? cell : padColumns(fitColumns(cell, MAX_CELL), widths[column] ?? 0),
    )
    const line = cells.join('  ').trimEnd()
    return width === undefined ? line : fitColumns(line, width)
  })
  return `${lines.join('\n')}\n`
}

/** Prints a table, cut to the width of the terminal if there is one; without rows, prints `none`. */
export function printTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): Promise<void> {
  if (rows.length === 0) return print(`${none}\n`)
  return print(formatTable(titles, rows, process.stdout.isTTY ? process.stdout.columns : undefined))
}

/** Prints names and values, one pair a line; undefined values are left out. */
export function printFacts(facts: readonly (readonly [name: string, value: string | undefined])[]): Promise<void> {
  const known = facts.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value] as const]))
  const width = Math.max(...known.map(([name]) => stringWidth(name)))
  return print(known.map(([name, value]) => `${padColumns(name, width)}  ${toDisplayText(value)}\n`).join(''))
}
