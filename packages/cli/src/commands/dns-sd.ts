import { parseArgs } from 'node:util'
import { directoryRecords, type ZoneRecord } from '@switchboard/protocol'
import { readNumber } from '../read-number.js'
import { readDirectorySettings } from '../settings.js'
import { print, printJson } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard dns-sd: print the DNS records with which a directory is found in a domain

  switchboard dns-sd DOMAIN

Add the records to the zone of the domain; then "switchboard find-directory --domain DOMAIN" finds the directory.

  --url URL      the directory (http://127.0.0.1:8040)           SWITCHBOARD_URL
  --name NAME    what people see in a list of directories (Switchboard)
  --ttl N        seconds for which resolvers keep the records (3600)
  --json         print JSON, for programs

Example:
  switchboard dns-sd example.com --url https://directory.example.com
`

const DEFAULT_TTL = 3600
/** A week, in seconds. */
const MAX_TTL = 604_800

export async function dnsSd(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      name: { type: 'string' },
      ttl: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [domain] = positionals
  if (domain === undefined || positionals.length > 1) throw new UsageError('name one domain: switchboard dns-sd DOMAIN')
  const ttl = readNumber('--ttl', values.ttl, { least: 1, most: MAX_TTL }) ?? DEFAULT_TTL
  const records = readRecords(domain, readDirectorySettings(values).url, values.name ?? 'Switchboard')
  if (values.json) await printJson(records.map((record) => ({ ...record, ttl })))
  else await print(records.map(({ name, type, data }) => `${name} ${ttl} IN ${type} ${data}\n`).join(''))
  return 0
}

function readRecords(domain: string, text: string, name: string): ZoneRecord[] {
  const url = new URL(text)
  const tls = url.protocol === 'https:'
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port)
  // SRV records have no place for a path.
  const base = url.pathname === '/' ? undefined : text
  try {
    return directoryRecords({ name, host: url.hostname, port, tls, ...(base !== undefined && { url: base }) }, domain)
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message)
    throw error
  }
}
