import { readFile } from 'node:fs/promises'
import type { PeerDirectory, PeerTerms } from '@switchboard/client'
import type { JsonObject } from '@switchboard/protocol'
import { type CommandGroup, command, type Options, type Values } from '../command/command.js'
import { openAdmin } from '../directory.js'
import { readNumber } from '../read-number.js'
import { ADMIN_OPTIONS } from '../settings.js'
import { print, printJson, printTable } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const TRUST = ['full', 'limited', 'quarantine', 'none'] as const

const TERM_OPTIONS = {
  trust: { type: 'string', value: 'LEVEL', text: `${TRUST.join(', ')} (limited)`, choices: TRUST },
  interval: { type: 'string', value: 'N', text: 'seconds between requests (300)' },
  'peer-token-file': { type: 'string', value: 'FILE', text: 'file with our credential at the peer' },
  tag: { type: 'string', multiple: true, value: 'TAG', text: 'only agents with one of these tags (all)' },
  publisher: {
    type: 'string',
    multiple: true,
    value: 'NAME',
    text: 'only agents of these publishers or origins, such as "acme*" (all)',
  },
  ...ADMIN_OPTIONS,
} as const satisfies Options

const REVIEW_OPTIONS = {
  peer: { type: 'string', value: 'NAME', text: 'only the copy of this peer (all)' },
  ...ADMIN_OPTIONS,
} as const satisfies Options

type Flags = Values<typeof ADMIN_OPTIONS>

/** Seconds; a month. */
const MAX_INTERVAL = 2_592_000

export const peers: CommandGroup = {
  summary: 'list the agents of other directories',
  about: "All need an administrator's key.",
  actions: {
    list: command({
      summary: 'the peers, and when they were last heard',
      options: ADMIN_OPTIONS,
      examples: ['switchboard peers list'],
      run: list,
    }),
    add: command({
      summary: 'add a peer',
      usage: 'NAME URL',
      options: TERM_OPTIONS,
      examples: ['switchboard peers add acme https://agents.acme.example --trust full --interval 60'],
      async run(values, [name = '', url = '']) {
        const { document } = await (await openAdmin(values)).addPeer({ ...(await readTerms(values)), name, url })
        await report(values, `added ${name}`, document)
        return 0
      },
    }),
    change: command({
      summary: 'change its terms',
      usage: 'NAME',
      options: TERM_OPTIONS,
      examples: ['switchboard peers change acme --trust limited'],
      async run(values, [name = '']) {
        const { document } = await (await openAdmin(values)).changePeer(name, await readTerms(values))
        await report(values, `changed ${name}`, document)
        return 0
      },
    }),
    remove: command({
      summary: 'remove it, and the agents that only it supplies',
      usage: 'NAME',
      options: ADMIN_OPTIONS,
      examples: ['switchboard peers remove acme'],
      async run(values, [name = '']) {
        await (await openAdmin(values)).removePeer(name)
        await report(values, `removed ${name}`, { name, removed: true })
        return 0
      },
    }),
    quarantine: command({
      summary: 'the agents that wait for a review',
      options: ADMIN_OPTIONS,
      examples: ['switchboard peers quarantine'],
      run: quarantine,
    }),
    accept: command({
      summary: 'list an agent that waits',
      usage: 'AGENT',
      options: REVIEW_OPTIONS,
      examples: ['switchboard peers accept translator'],
      run: (values, [agent = '']) => review(agent, 'accept', values),
    }),
    reject: command({
      summary: 'do not list an agent, whoever supplies it',
      usage: 'AGENT',
      options: REVIEW_OPTIONS,
      examples: ['switchboard peers reject spam-agent'],
      run: (values, [agent = '']) => review(agent, 'reject', values),
    }),
  },
}

const report = (values: Flags, text: string, document: JsonObject): Promise<void> =>
  values.json ? printJson(document) : print(`${text}\n`)

async function review(
  agent: string,
  decision: 'accept' | 'reject',
  values: Values<typeof REVIEW_OPTIONS>,
): Promise<number> {
  await (await openAdmin(values)).reviewAgent({
    agent,
    decision,
    ...(values.peer !== undefined && { peer: values.peer }),
  })
  await report(values, `${decision}ed ${agent}`, { agent, decision })
  return 0
}

async function list(values: Flags): Promise<number> {
  const all = await (await openAdmin(values)).listPeers()
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
  const waiting = await (await openAdmin(values)).listQuarantine()
  if (values.json) await printJson(waiting.map(({ document }) => document))
  else
    await printTable(
      ['AGENT', 'PEER', 'ORIGIN'],
      waiting.map(({ agent, peer, document }) => [agent, peer, String(document.origin_service)]),
      'nothing waits for a review',
    )
  return 0
}

async function readTerms(values: Values<typeof TERM_OPTIONS>): Promise<PeerTerms> {
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
