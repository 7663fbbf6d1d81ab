import { parseArgs } from 'node:util'
import { type ResolvedAgent, resolveAgent } from '@switchboard/client'
import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printFacts, printJson, remark } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard resolve: show where an agent:// URI leads and how to call the agent

  switchboard resolve URI

  --version RANGE        version of the agent, such as ^3.0.0
  --require-signature    reject descriptors without a valid signature
  --webfinger            also look it up with WebFinger
  --allow-private        allow private networks, and plain HTTP on this computer
  --json                 print JSON, for programs

Example:
  switchboard resolve 'agent://planner.example.com/gen-iti?city=Paris'
`

export async function resolve(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      version: { type: 'string' },
      'require-signature': { type: 'boolean' },
      webfinger: { type: 'boolean' },
      'allow-private': { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [uri, ...more] = positionals
  if (uri === undefined || more.length > 0) throw new UsageError('name one URI: switchboard resolve agent://host/path')
  const resolved = await resolveAgent(uri, {
    signal: untilInterrupted(),
    ...(values.version !== undefined && { version: values.version }),
    ...(values['require-signature'] && { requireSignature: true }),
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
