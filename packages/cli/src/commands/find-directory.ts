import type { FoundDirectory } from '@switchboard/client/find-directories'
import { command } from '../command/command.js'
import { readNumber } from '../read-number.js'
import { JSON_OPTION } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printFacts, printJson, remark } from '../terminal/print.js'

/** Longest time to listen, in seconds. */
const MAX_SECONDS = 60

export const findDirectory = command({
  summary: 'find directories on the local network or in a domain',
  usage: '[--domain DOMAIN]',
  about: `Listens on the local network by multicast DNS, or reads the DNS records of a domain. Prints the URL of each directory and what its /.well-known/ad offers. Anybody on the network can advertise a directory: only TLS proves who answers at a URL. The exit code is 1 if none is found.`,
  options: {
    domain: { type: 'string', value: 'DOMAIN', text: 'read the records of this domain' },
    timeout: { type: 'string', value: 'N', text: 'seconds to listen, or to wait for DNS (2)' },
    ...JSON_OPTION,
  },
  examples: ['switchboard find-directory', 'switchboard find-directory --domain example.com --json'],
  async run(values) {
    const seconds = readNumber('--timeout', values.timeout, { least: 1, most: MAX_SECONDS })
    const { findDirectories } = await import('@switchboard/client/find-directories')
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
  },
})

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
