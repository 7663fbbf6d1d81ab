import type { ZoneRecord } from '@switchboard/protocol'
import { readNumber } from './read-number.js'
import { print, printJson } from './terminal/print.js'
import { UsageError } from './usage.js'

const DEFAULT_TTL = 3600
/** A week, in seconds. */
const MAX_TTL = 604_800

/** The option of commands that print DNS records. */
export const TTL_OPTION = {
  ttl: { type: 'string', value: 'N', text: `seconds for which resolvers keep the records (${DEFAULT_TTL})` },
} as const

export const readTtl = (text: string | undefined): number =>
  readNumber('--ttl', text, { least: 1, most: MAX_TTL }) ?? DEFAULT_TTL

/** Prints records as lines of a zone file, or as JSON. */
export async function printZone(records: readonly ZoneRecord[], ttl: number, asJson: boolean): Promise<void> {
  if (asJson) await printJson(records.map((record) => ({ ...record, ttl })))
  else await print(records.map(({ name, type, data }) => `${name} ${ttl} IN ${type} ${data}\n`).join(''))
}

/** What `write` returns; a name that cannot be written in DNS is an error of usage. */
export function writeRecords(write: () => ZoneRecord[]): ZoneRecord[] {
  try {
    return write()
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message)
    throw error
  }
}
