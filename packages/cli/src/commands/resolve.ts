import type { FindInDns, ResolvedAgent } from '@switchboard/client'
import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { command } from '../command/command.js'
import { CONNECTION_OPTIONS, JSON_OPTION } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { printFacts, printJson, remark } from '../terminal/print.js'

export const resolve = command({
  summary: 'show where an agent:// URI leads and how to call the agent',
  usage: 'URI',
  options: {
    version: { type: 'string', value: 'RANGE', text: 'version of the agent, such as ^3.0.0' },
    'require-signature': { type: 'boolean', text: 'reject descriptors without a valid signature' },
    dns: { type: 'boolean', text: 'look it up in DNS first (SVCB records)' },
    'dns-server': { type: 'string', value: 'ADDRESS', text: 'DNS server for --dns, such as 192.0.2.1:53' },
    webfinger: { type: 'boolean', text: 'also look it up with WebFinger' },
    'allow-private': { type: 'boolean', text: 'allow private networks, and plain HTTP on this computer' },
    ca: CONNECTION_OPTIONS.ca,
    ...JSON_OPTION,
  },
  examples: ["switchboard resolve 'agent://planner.example.com/gen-iti?city=Paris'"],
  async run(values, [uri = '']) {
    const { resolveAgent } = await import('@switchboard/client/resolve')
    const resolved = await resolveAgent(uri, {
      signal: untilInterrupted(),
      ...(values.version !== undefined && { version: values.version }),
      ...(values['require-signature'] && { requireSignature: true }),
      ...(values.dns && { dns: await dnsLookup(values['dns-server']) }),
      ...(values.webfinger && { webfinger: true }),
      ...(values['allow-private'] && { allowPrivate: true, httpLoopback: true }),
    })
    if (values.json) {
      await printJson(toJson(resolved))
      return 0
    }
    for (const warning of resolved.warnings) remark(`warning: ${warning}`)
    await printFacts(factsOf(resolved))
    return 0
  },
})

async function dnsLookup(server: string | undefined): Promise<FindInDns> {
  const { createDnsLookup } = await import('@switchboard/client/dns')
  return createDnsLookup(server === undefined ? {} : { servers: [server] })
}

function factsOf(resolved: ResolvedAgent): [string, string | undefined][] {
  const { agent, capability, version, signer, fallback, params, endpoints, record, requestedUrls } = resolved
  return [
    ['uri', resolved.uri],
    ['agent', agent],
    ['version', version],
    ['capability', capability],
    ['input', Object.keys(params).length === 0 ? undefined : JSON.stringify(params)],
    ...endpoints.map(({ protocol, url }): [string, string] => [`endpoint (${protocol})`, url]),
    ['descriptor', fallback ? 'none found; the endpoint is derived from the URI' : undefined],
    ['signed by', signer && `${signer.key} (${signer.authority})`],
    ['offers', record?.capabilities.map(({ name }) => name).join(', ')],
    ...requestedUrls.map((url): [string, string] => ['requested', url]),
  ]
}

/** The JSON output. It leaves out the parsed record, since it has the descriptor itself. */
function toJson({ record: _record, capabilityDetails: details, ...rest }: ResolvedAgent): JsonObject {
  const members: [string, unknown][] = Object.entries({ ...rest, capabilityDetails: details?.source })
  return Object.fromEntries(members.flatMap(([name, value]) => (value === undefined ? [] : [[name, asJson(value)]])))
}

/** A deep copy that the compiler knows to be JSON. */
const asJson = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value))
