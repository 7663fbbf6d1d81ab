import { parseArgs } from 'node:util'
import { ClientError, keepRegistered, type Registration } from '@switchboard/client'
import { openDirectory } from '../directory.js'
import { readSource, toRegistration } from '../documents/registrable.js'
import { DIRECTORY_HELP } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, remark } from '../terminal/print.js'
import { UsageError } from '../usage.js'
import { printRegistration, REGISTER_FLAGS, readLifetime, register } from './register.js'

const HELP = `switchboard publish: register a document and keep it registered

  switchboard publish FILE|URL|-

Renews the registration before it expires, registers again if the directory has dropped it, retries while the directory
is down, and removes the agent when it is interrupted (Ctrl-C). The document may be of any draft, as for switchboard
register.

  --once             register without renewing, as switchboard register does
  --lifetime N       seconds until the directory drops an agent that is not renewed (3600)
  --id ID            the agent's id, if the document states none or another one is wanted
  --format FORMAT    aidip, profile, directory, descriptor, a2a or mcp; default: detected from the members
  --allow-private    also read documents from private networks
${DIRECTORY_HELP}

Example:
  switchboard publish agent.json --lifetime 600 --token $KEY
`

/** Default lifetime in seconds. */
const LIFETIME = 3600

export async function publish(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { ...REGISTER_FLAGS, once: { type: 'boolean' } },
  })
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [source, ...more] = positionals
  if (source === undefined || more.length > 0) throw new UsageError('name one document: switchboard publish FILE')
  if (values.once) return register(args.filter((arg) => arg !== '--once'))
  const lifetime = readLifetime(values.lifetime) ?? LIFETIME
  const signal = untilInterrupted()
  const found = await readSource(source, { allowPrivate: values['allow-private'] === true, signal })
  const { document, options } = toRegistration(found, values)
  let printed = Promise.resolve()
  const onRegistered = (registration: Registration): void => {
    printed = printed.then(() => printRegistration(registration, values.json === true))
  }
  const onError = (error: unknown): void => {
    if (!(error instanceof ClientError)) throw error
    remark(`${error.message}; trying again`)
  }
  const { closed } = await keepRegistered(openDirectory(values), {
    ...options,
    document,
    lifetime,
    signal,
    onRegistered,
    onError,
  })
  await closed
  await printed
  return 0
}
