import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openDirectory } from '../directory.js'
import { keepPublished } from '../documents/keep-published.js'
import { readSource, toRegistration } from '../documents/registrable.js'
import { DIRECTORY_HELP } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, remark } from '../terminal/print.js'
import { UsageError } from '../usage.js'
import { REGISTER_FLAGS, readLifetime, register, tellRegistration } from './register.js'

const HELP = `switchboard publish: register a document and keep it registered

  switchboard publish FILE|URL|-

Renews the registration before it lapses, registers again where it was forgotten, and takes the agent out when it is
interrupted (Ctrl-C). The document may be of any draft, as for switchboard register.

  --once             register, and leave it at that
  --lifetime N       seconds until the directory forgets an agent that is not renewed (3600)
  --id ID            the agent's id, where the document states none or another is wanted
  --format FORMAT      aidip, profile, directory, descriptor, a2a or mcp, if it is not told by the members
  --allow-private    read documents of private networks, too
${DIRECTORY_HELP}

Example:
  switchboard publish agent.json --lifetime 600 --token $KEY
`

/** Seconds. */
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
  await keepPublished(
    {
      directory: openDirectory(values),
      now: Date.now,
      sleep: (ms, until) => wait(ms, undefined, { signal: until }).catch(() => {}),
      random: Math.random,
      onRegistered: (registration) => tellRegistration(registration, values.json === true),
      onFailure: (error) => remark(`${error.message}; trying again`),
    },
    { ...toRegistration(found, values), lifetime, signal },
  )
  return 0
}
