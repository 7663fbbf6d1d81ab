import { parseArgs } from 'node:util'
import { type FoundDirectory, findDirectories } from '@switchboard/client/find-directories'
import { readNumber } from '../read-number.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printFacts, printJson, remark } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard find-directory: find directories by DNS-SD

  switchboard find-directory                  on the local network, by multicast DNS
  switchboard find-directory --domain DOMAIN  in the DNS records of a domain

Prints the URL of each directory and what its /.well-known/ad offers. Anybody on the network can advertise a directory:
only TLS proves who answers at a URL. The exit code is 1 if none is found.

  --domain DOMAIN    read the records of this domain
  --timeout N        seconds to listen, or to wait for DNS (2)
  --json             print JSON, for programs

Examples:
  switchboard find-directory
  switchboard find-directory --domain example.com --json
`

/** Longest time to listen, in seconds. */
const MAX_SECONDS = 60

export async function findDirectory(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      domain: { type: 'string' },
      timeout: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    await print(HELP)
    return 0
  }
  if (positionals.length > 0) throw new UsageError('use: switchboard find-directory [--domain DOMAIN]')
  const seconds = readNumber('--timeout', values.timeout, { least: 1, most: MAX_SECONDS })
  const found = await findDirectories({
    signal: untilInterrupted(),
    ...(values.domain !== undefined && { domain: values.domain }),
    ...(seconds !== undefined && { timeoutMs: seconds * 1000 }),
  })
  if (values.json) await printJson(found.map(toJson))
  else for (const [i, directory] of found.entries()) await report(directory, i > 0)
  if (found.length === 0)
    remark(`no directory was found ${values.domain === undefined ? 'on the local network' : `in ${values.domain}`}`)
  return found.length > 0 ? 0 : 1
}

const toJson = ({ name, url, version, addresses, offer, problem }: FoundDirectory) => ({
  name,
  url,
  addresses: [...addresses],
  ...(version !== undefined && { version }),
  ...(offer && { offer: { ...offer } }),
  ...(problem !== undefined && { problem }),
})

async function report({ name, url, version, addresses, offer, problem }: FoundDirectory, isNext: boolean) {
  if (isNext) await print('\n')
  await printFacts([
    ['url', url],
    ['name', name],
    ['version', version],
    ['addresses', addresses.join(' ')],
    ['registration', offer?.registration],
    ['lookup', offer?.lookup],
    ['max count', offer?.maxCount === undefined ? undefined : String(offer.maxCount)],
    ['problem', problem],
  ])
}
