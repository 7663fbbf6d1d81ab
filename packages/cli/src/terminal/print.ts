import { once } from 'node:events'
import { toDisplayText } from '@switchboard/client'
import type { JsonValue } from '@switchboard/protocol'
import { printableJson } from './printable.js'

/** Writes to stdout, and waits where its reader is slow. */
export async function print(text: string | Uint8Array): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** JSON for programs, which people can read, too. */
export const printJson = (value: JsonValue): Promise<void> => print(`${printableJson(value, 2)}\n`)

/** JSON on one line, where many follow each other. */
export const printJsonLine = (value: JsonValue): Promise<void> => print(`${printableJson(value)}\n`)

/** A remark for the person, which is no part of the output. */
export function remark(text: string): void {
  process.stderr.write(`switchboard: ${toDisplayText(text)}\n`)
}

/** Columns of a cell that still make a table. */
const MAX_CELL = 60

/** Lines up rows below their titles; the last column takes what is left of the line. */
export function formatTable(titles: readonly string[], rows: readonly (readonly string[])[], width?: number): string {
  const all = [titles, ...rows].map((row) => row.map(toDisplayText))
  const widths = titles.map((_, column) => Math.min(MAX_CELL, Math.max(...all.map((row) => row[column]?.length ?? 0))))
  const lines = all.map((row) => {
    const cells = row.map((cell, column) =>
      column === titles.length - 1 ? cell : shorten(cell, MAX_CELL).padEnd(widths[column] ?? 0),
    )
    const line = cells.join('  ').trimEnd()
    return width === undefined ? line : shorten(line, width)
  })
  return `${lines.join('\n')}\n`
}

const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, Math.max(0, length - 1))}…` : text

/** A table, cut to the terminal where there is one; `none` is said where there are no rows. */
export function printTable(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): Promise<void> {
  if (rows.length === 0) return print(`${none}\n`)
  return print(formatTable(titles, rows, process.stdout.isTTY ? process.stdout.columns : undefined))
}

/** Names and values, one a line; those that are undefined are left out. */
export function printFacts(facts: readonly (readonly [name: string, value: string | undefined])[]): Promise<void> {
  const known = facts.flatMap(([name, value]) => (value === undefined || value === '' ? [] : [[name, value] as const]))
  const width = Math.max(...known.map(([name]) => name.length))
  return print(known.map(([name, value]) => `${name.padEnd(width)}  ${toDisplayText(value)}\n`).join(''))
}
