import type { Registration } from '@switchboard/client'
import { isClientError } from '../client-error.js'
import { command } from '../command/command.js'
import { openDirectory } from '../directory.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { remark } from '../terminal/print.js'
import { printRegistration, REGISTER_OPTIONS, readLifetime, registerOnce } from './register.js'

/** Default lifetime in seconds. */
const LIFETIME = 3600

export const publish = command({
  summary: 'register an agent and keep it registered',
  usage: 'FILE|URL|-',
  about: `Renews the registration before it expires, registers again if the directory has dropped it, retries while the directory is down, and removes the agent when it is interrupted (Ctrl-C). The document may be of any draft, as for switchboard register. A URL is that of a document, or of an agent that publishes one.`,
  options: {
    once: { type: 'boolean', text: 'register without renewing, as switchboard register does' },
    ...REGISTER_OPTIONS,
    lifetime: {
      type: 'string',
      value: 'N',
      text: `seconds until the directory drops an agent that is not renewed (${LIFETIME})`,
    },
  },
  examples: ['switchboard publish agent.json --lifetime 600', 'switchboard publish https://agents.example/ --once'],
  async run(values, [source = '']) {
    if (values.once) return registerOnce(source, values)
    const lifetime = readLifetime(values.lifetime) ?? LIFETIME
    const signal = untilInterrupted()
    const { readSource, toRegistration } = await import('../documents/registrable.js')
    const found = await readSource(source, { allowPrivate: values['allow-private'] === true, signal })
    const { document, options } = toRegistration(found, values)
    let printed = Promise.resolve()
    const onRegistered = (registration: Registration): void => {
      printed = printed.then(() => printRegistration(registration, values.json === true))
    }
    const onError = (error: unknown): void => {
      if (!isClientError(error)) throw error
      remark(`${error.message}; trying again`)
    }
    const { keepRegistered } = await import('@switchboard/client')
    const { closed } = await keepRegistered(await openDirectory(values), {
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
  },
})
