import type { DiscoveryClient } from '@switchboard/client'
import type { AgentInDns } from '@switchboard/protocol'
import { asObjects, asString, asStrings } from '@switchboard/protocol/json'
import { command } from '../command/command.js'
import { openDiscovery } from '../directory.js'
import { CONNECTION_OPTIONS, JSON_OPTION, readDirectorySettings } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { remark } from '../terminal/print.js'
import { printZone, readTtl, TTL_OPTION, writeRecords } from '../zone.js'

export const dnsRecords = command({
  summary: 'print the DNS records with which the agents of a domain are found',
  usage: 'DOMAIN [AGENT…]',
  about:
    'Prints SVCB and TXT records (DNS-AID) for the zone of the domain. Without AGENT, the agents whose id or endpoint is in the domain.',
  options: {
    ...CONNECTION_OPTIONS,
    ...TTL_OPTION,
    'private-keys': {
      type: 'boolean',
      text: 'also write the keys of the draft that have no assigned number: cap (key65400) and bap (key65402)',
    },
    ...JSON_OPTION,
  },
  examples: ['switchboard dns-records example.com', 'switchboard dns-records example.com translator --private-keys'],
  async run(values, [domain = '', ...ids]) {
    const ttl = readTtl(values.ttl)
    const directory = await openDiscovery(values)
    const { url } = readDirectorySettings(values)
    const signal = untilInterrupted()
    const { agentRecords } = await import('@switchboard/protocol')
    // Names are checked before anything is requested.
    writeRecords(() => agentRecords([], domain))
    const agents = new Map<string, AgentInDns>()
    for await (const id of ids.length > 0 ? ids : agentsOf(domain, directory, signal)) {
      const agent = await describe(id, directory, url, signal)
      const problem = await problemOf(agent, agents)
      if (problem === undefined) agents.set(agent.label, agent)
      else remark(`${id} is left out: ${problem}`)
    }
    const records = agentRecords([...agents.values()], domain, {
      index: url,
      privateKeys: values['private-keys'] === true,
    })
    await printZone(records, ttl, values.json === true)
    return 0
  },
})

/** The ids of the agents whose id or endpoint names the domain or a host in it. */
async function* agentsOf(domain: string, directory: DiscoveryClient, signal: AbortSignal): AsyncGenerator<string> {
  const suffix = `.${domain.replace(/\.$/, '').toLowerCase()}`
  for await (const { id, endpoint } of directory.search({ top: 100 }, { signal })) {
    const hosts = [hostOfId(id), hostOf(endpoint ?? '')]
    if (hosts.some((host) => `.${host}`.endsWith(suffix))) yield id
  }
}

/** The domain that an id names: `agent://example.com/x`, `https://example.com/x`, or `com.example/x` as in MCP registries. */
function hostOfId(id: string): string {
  const [, namespace] = /^([a-z0-9-]+(?:\.[a-z0-9-]+)+)\/[^/]+$/i.exec(id) ?? []
  if (namespace !== undefined) return namespace.toLowerCase().split('.').reverse().join('.')
  return hostOf(id.replace(/^agent(\+\w+)?:\/\//, 'https://'))
}

const hostOf = (text: string): string => (URL.canParse(text) ? new URL(text).hostname : '')

async function describe(id: string, directory: DiscoveryClient, url: string, signal: AbortSignal): Promise<AgentInDns> {
  const profile = await directory.get(id, { view: 'profile', signal })
  const { version, capabilities } = await directory.get(id, { signal })
  const bindings = asObjects(profile.bindings).flatMap(({ protocol, endpoint }) =>
    typeof protocol === 'string' && typeof endpoint === 'string' ? [{ protocol, endpoint }] : [],
  )
  const known = asString(version)
  const { labelOf } = await import('@switchboard/protocol')
  return {
    label: labelOf(id) ?? '',
    bindings,
    capabilities: asStrings(capabilities),
    ...(known !== undefined && { version: known }),
    descriptor: `${url}/agents/${encodeURIComponent(id)}/agent.json`,
  }
}

/** Why an agent has no records. */
async function problemOf(agent: AgentInDns, others: ReadonlyMap<string, AgentInDns>): Promise<string | undefined> {
  if (agent.label === '') return 'its id does not end with a name that can be part of a host name'
  if (others.has(agent.label)) return `another agent has the name ${agent.label}`
  const { agentRecords } = await import('@switchboard/protocol')
  const isWritten = agentRecords([agent], 'example').length > 0
  return isWritten ? undefined : 'it has no endpoint with TLS on a host with a name'
}
