import type { Registration } from '@switchboard/client'
import { DOCUMENT_FORMATS } from '@switchboard/protocol/record'
import { command, type Options, type Values } from '../command/command.js'
import { openDirectory } from '../directory.js'
import { readNumber } from '../read-number.js'
import { DIRECTORY_OPTIONS } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJson, remark } from '../terminal/print.js'

/** The format of documents, for the commands that register some. */
export const FORMAT_OPTIONS = {
  format: {
    type: 'string',
    value: 'FORMAT',
    text: `${DOCUMENT_FORMATS.join(', ')}; default: detected from the members`,
    choices: DOCUMENT_FORMATS,
  },
  face: { type: 'string', value: 'FORMAT', text: 'the older name of --format', isHidden: true },
  'allow-private': { type: 'boolean', text: 'also read documents from private networks' },
} as const satisfies Options

/** Options of the commands that register one document. */
export const REGISTER_OPTIONS = {
  id: { type: 'string', value: 'ID', text: "the agent's id, if the document states none or another one is wanted" },
  lifetime: { type: 'string', value: 'N', text: 'seconds until the registration expires, unless it is renewed' },
  ...FORMAT_OPTIONS,
  ...DIRECTORY_OPTIONS,
} as const satisfies Options

/** In seconds. A minute is the shortest lifetime that the Agent Directory grants (AD §4.1). */
export const readLifetime = (text: string | undefined): number | undefined =>
  readNumber('--lifetime', text, { least: 60, most: 4_294_967_295 })

export const register = command({
  summary: 'register an agent once, from a document of any draft',
  usage: 'FILE|URL|-',
  about: `The document can be AIDIP metadata, a profile, an entry of the Agent Directory, an agent.json, an A2A card, an MCP server.json or an OpenAPI document, as JSON or in a .yaml file. To keep the agent registered use switchboard publish; for many documents, switchboard import.`,
  options: REGISTER_OPTIONS,
  examples: ['switchboard register agent.json', 'switchboard register https://agents.example/card.json --id weather'],
  run: (values, [source = '']) => registerOnce(source, values),
})

/** Registers the document of a file or URL. */
export async function registerOnce(source: string, values: Values<typeof REGISTER_OPTIONS>): Promise<undefined> {
  const lifetime = readLifetime(values.lifetime)
  const signal = untilInterrupted()
  const { readSource, toRegistration } = await import('../documents/registrable.js')
  const found = await readSource(source, { allowPrivate: values['allow-private'] === true, signal })
  const { document, options } = toRegistration(found, values)
  const registration = await (await openDirectory(values)).register(document, {
    ...options,
    signal,
    ...(lifetime !== undefined && { lifetime }),
  })
  await printRegistration(registration, values.json === true)
}

/** Prints the result for people or programs. */
export async function printRegistration(registration: Registration, asJson: boolean): Promise<void> {
  const { id, created, href, lifetime, warnings, document } = registration
  const seconds = lifetime === undefined ? {} : { lifetime }
  if (asJson) return printJson({ id, created, href, ...seconds, warnings: [...warnings], document })
  for (const warning of warnings) remark(`warning: ${warning}`)
  await print(`${created ? 'registered' : 'updated'} ${id}${lifetime === undefined ? '' : ` for ${lifetime} s`}\n`)
}
