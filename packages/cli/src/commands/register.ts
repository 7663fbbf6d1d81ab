import { parseArgs } from 'node:util'
import type { Registration } from '@switchboard/client'
import { openDirectory } from '../directory.js'
import { readSource, toRegistration } from '../documents/registrable.js'
import { readNumber } from '../read-number.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJson, remark } from '../terminal/print.js'
import { UsageError } from '../usage.js'

const HELP = `switchboard register: register an agent once, from one document

  switchboard register FILE|URL|-

The document can be AIDIP metadata, a profile, an entry of the Agent Directory, an agent.json, an A2A card or an MCP
server.json. To keep the agent registered use switchboard publish; for many documents, switchboard import.

  --id ID            the agent's id, if the document states none or another one is wanted
  --format FORMAT    aidip, profile, directory, descriptor, a2a or mcp; default: detected from the members
  --lifetime N       seconds until the registration expires, for entries of the Agent Directory
  --allow-private    also read documents from private networks
${DIRECTORY_HELP}

Example:
  switchboard register agent.json --token $KEY
`

/** Flags of the commands that register one document. */
export const REGISTER_FLAGS = {
  ...DIRECTORY_FLAGS,
  id: { type: 'string' },
  format: { type: 'string' },
  face: { type: 'string' },
  lifetime: { type: 'string' },
  'allow-private': { type: 'boolean' },
} as const

/** In seconds. A minute is the shortest lifetime that the Agent Directory grants (AD §4.1). */
export const readLifetime = (text: string | undefined): number | undefined =>
  readNumber('--lifetime', text, { least: 60, most: 4_294_967_295 })

export async function register(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: REGISTER_FLAGS })
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [source, ...more] = positionals
  if (source === undefined || more.length > 0) throw new UsageError('name one document: switchboard register FILE')
  const lifetime = readLifetime(values.lifetime)
  const signal = untilInterrupted()
  const found = await readSource(source, { allowPrivate: values['allow-private'] === true, signal })
  const { document, options } = toRegistration(found, values)
  const registration = await openDirectory(values).register(document, {
    ...options,
    signal,
    ...(lifetime !== undefined && { lifetime }),
  })
  await printRegistration(registration, values.json === true)
  return 0
}

/** Prints the result for people or programs. */
export async function printRegistration(registration: Registration, asJson: boolean): Promise<void> {
  const { id, created, href, lifetime, warnings, document } = registration
  const seconds = lifetime === undefined ? {} : { lifetime }
  if (asJson) return printJson({ id, created, href, ...seconds, warnings: [...warnings], document })
  for (const warning of warnings) remark(`warning: ${warning}`)
  await print(`${created ? 'registered' : 'updated'} ${id}${lifetime === undefined ? '' : ` for ${lifetime} s`}\n`)
}
