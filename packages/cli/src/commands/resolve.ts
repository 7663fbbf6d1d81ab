import { parseArgs } from 'node:util'
import { type ResolvedAgent, resolveAgent } from '@switchboard/client'
import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printFacts, printJson, remark } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard resolve: find out where and how the agent of a URI is called

  switchboard resolve URI

  --version RANGE        the version that is wanted, such as ^3.0.0
  --require-signature    refuse descriptors without a good signature
  --webfinger            ask WebFinger, too
  --allow-private        allow private networks, and plain HTTP to this computer
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
    ...endpoints.map(({ protocol, url }): [string, string] => [`by ${protocol}`, url]),
    ['found', fallback ? 'nothing: the endpoint is a guess' : undefined],
    ['signed by', signer && `${signer.key} (${signer.authority})`],
    ['offers', record?.capabilities.map(({ name }) => name).join(', ')],
    ...requestedUrls.map((url): [string, string] => ['requested', url]),
  ]
}

/** What programs want to know; the record is the descriptor read, which they can do themselves. */
function toJson({ record: _record, capabilityDetails: details, ...rest }: ResolvedAgent): JsonObject {
  const known: [string, unknown][] = Object.entries({ ...rest, capabilityDetails: details?.source })
  return Object.fromEntries(known.flatMap(([name, value]) => (value === undefined ? [] : [[name, asJson(value)]])))
}

/** What is made of JSON and texts only is JSON once it has been written and read. */
const asJson = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value))
