import type { ZoneRecord } from '@switchboard/protocol'
import { command } from '../command/command.js'
import { CONNECTION_OPTIONS, JSON_OPTION, readDirectorySettings } from '../settings.js'
import { printZone, readTtl, TTL_OPTION, writeRecords } from '../zone.js'

export const dnsSd = command({
  summary: 'print the DNS records with which a directory is found in a domain',
  usage: 'DOMAIN',
  about:
    'Add the records to the zone of the domain; then "switchboard find-directory --domain DOMAIN" finds the directory.',
  options: {
    url: CONNECTION_OPTIONS.url,
    name: { type: 'string', value: 'NAME', text: 'what people see in a list of directories (Switchboard)' },
    ...TTL_OPTION,
    ...JSON_OPTION,
  },
  examples: ['switchboard dns-sd example.com --url https://directory.example.com'],
  async run(values, [domain = '']) {
    const ttl = readTtl(values.ttl)
    const records = await readRecords(domain, readDirectorySettings(values).url, values.name ?? 'Switchboard')
    await printZone(records, ttl, values.json === true)
    return 0
  },
})

async function readRecords(domain: string, text: string, name: string): Promise<ZoneRecord[]> {
  const { directoryRecords } = await import('@switchboard/protocol')
  const url = new URL(text)
  const tls = url.protocol === 'https:'
  const port = url.port === '' ? (tls ? 443 : 80) : Number(url.port)
  // SRV records have no place for a path.
  const base = url.pathname === '/' ? undefined : text
  return writeRecords(() =>
    directoryRecords({ name, host: url.hostname, port, tls, ...(base !== undefined && { url: base }) }, domain),
  )
}
