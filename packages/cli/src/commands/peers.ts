import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { PeerDirectory, PeerTerms } from '@switchboard/client'
import type { JsonObject } from '@switchboard/protocol'
import { openAdmin } from '../directory.js'
import { readNumber } from '../read-number.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { print, printJson, printTable } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const TRUST = ['full', 'limited', 'quarantine', 'none'] as const

const HELP = `switchboard peers: list the agents of other directories

  switchboard peers list                    the peers, and when they were last heard
  switchboard peers add NAME URL            add a peer
  switchboard peers change NAME             change its terms
  switchboard peers remove NAME             remove it, and the agents that only it supplies
  switchboard peers quarantine              the agents that wait for a review
  switchboard peers accept AGENT            list an agent that waits
  switchboard peers reject AGENT            do not list an agent, whoever supplies it

All need an administrator's key as --token. For add and change:
  --trust LEVEL      ${TRUST.join(', ')} (limited)
  --interval N       seconds between requests (300)
  --peer-token-file FILE  file with our credential at the peer
  --tag TAG          only agents with one of these tags; repeatable (all)
  --publisher NAME   only agents of these publishers or origins, such as "acme*"; repeatable (all)
For accept and reject:
  --peer NAME        only the copy of this peer (all)
${DIRECTORY_HELP}

Examples:
  switchboard peers add acme https://agents.acme.example --trust full --interval 60
  switchboard peers reject spam-agent
`

const FLAGS = {
  ...DIRECTORY_FLAGS,
  trust: { type: 'string' },
  interval: { type: 'string' },
  'peer-token-file': { type: 'string' },
  tag: { type: 'string', multiple: true },
  publisher: { type: 'string', multiple: true },
  peer: { type: 'string' },
} as const

const readFlags = (args: string[]) => parseArgs({ args, allowPositionals: true, options: FLAGS })
type Flags = ReturnType<typeof readFlags>['values']

/** Seconds; a month. */
const MAX_INTERVAL = 2_592_000

export async function peers(args: string[]): Promise<number> {
  const { values, positionals } = readFlags(args)
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [action = '', ...names] = positionals
  const [name = '', url = ''] = names
  const admin = openAdmin(values)
  const said = async (text: string, json: JsonObject): Promise<number> => {
    await (values.json ? printJson(json) : print(`${text}\n`))
    return 0
  }
  switch (`${action} ${names.length}`) {
    case 'list 0':
      return list(values)
    case 'quarantine 0':
      return quarantine(values)
    case 'add 2': {
      const { document } = await admin.addPeer({ ...(await readTerms(values)), name, url })
      return said(`added ${name}`, document)
    }
    case 'change 1': {
      const { document } = await admin.changePeer(name, await readTerms(values))
      return said(`changed ${name}`, document)
    }
    case 'remove 1':
      await admin.removePeer(name)
      return said(`removed ${name}`, { name, removed: true })
    case 'accept 1':
    case 'reject 1': {
      const decision = action === 'accept' ? 'accept' : 'reject'
      await admin.reviewAgent({ agent: name, decision, ...(values.peer !== undefined && { peer: values.peer }) })
      return said(`${decision}ed ${name}`, { agent: name, decision })
    }
    default:
      throw new UsageError(
        'use: switchboard peers list, add NAME URL, change NAME, remove NAME, quarantine, accept AGENT or reject AGENT',
      )
  }
}

async function list(values: Flags): Promise<number> {
  const all = await openAdmin(values).listPeers()
  if (values.json) await printJson(all.map(({ document }) => document))
  else
    await printTable(['NAME', 'URL', 'TRUST', 'AGENTS', 'WAITING', 'LAST HEARD', 'PROBLEM'], all.map(toRow), 'no peers')
  return 0
}

const toRow = ({ name, url, trust, listed, quarantined, lastHeardAt, error }: PeerDirectory): string[] => [
  name,
  url,
  trust,
  String(listed),
  String(quarantined),
  lastHeardAt ?? 'never',
  error ?? '',
]

async function quarantine(values: Flags): Promise<number> {
  const waiting = await openAdmin(values).listQuarantine()
  if (values.json) await printJson(waiting.map(({ document }) => document))
  else
    await printTable(
      ['AGENT', 'PEER', 'ORIGIN'],
      waiting.map(({ agent, peer, document }) => [agent, peer, String(document.origin_service)]),
      'nothing waits for a review',
    )
  return 0
}

async function readTerms(values: Flags): Promise<PeerTerms> {
  const { trust, tag, publisher, 'peer-token-file': tokenFile } = values
  const level = TRUST.find((known) => known === trust)
  if (trust !== undefined && !level) throw new UsageError(`--trust must be one of ${TRUST.join(', ')}, not "${trust}"`)
  const interval = readNumber('--interval', values.interval, { least: 1, most: MAX_INTERVAL })
  return {
    ...(level && { trust: level }),
    ...(interval !== undefined && { intervalSeconds: interval }),
    ...(tag && { tags: tag }),
    ...(publisher && { publishers: publisher }),
    // From a file: other users of the machine see the arguments of a command.
    ...(tokenFile !== undefined && { token: await readToken(tokenFile) }),
  }
}

async function readToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    throw new UsageError(
      `--peer-token-file ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}
