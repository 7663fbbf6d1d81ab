import { createClient, type DirectoryClient, keepRegistered } from '@switchboard/client'
import type { DemoInfo } from '@switchboard/protocol'
import type { DemoAgent } from './demo-agent.js'
import { DEMO_AGENTS } from './demo-agents.js'

export interface DemoOptions {
  /** URL of the directory to register with. */
  readonly baseUrl: string
  /** A key with the `publish` scope. */
  readonly token?: string
  /** Sends the requests to the directory. Default: the global `fetch`. */
  readonly fetch?: typeof fetch
  /** Called with failures to renew a registration, which are retried. */
  readonly onError?: (error: unknown) => void
}

/** The running agents of the demo. */
export interface Demo {
  readonly agents: readonly DemoInfo[]
  /** Removes the agents from the directory and stops them. */
  close(): Promise<void>
}

/** Seconds: if the process is killed, the directory forgets the agents after this time. */
const LIFETIME = 300

/** What can be tried, without the functions that start the agents. */
export const DEMO_INFO: readonly DemoInfo[] = DEMO_AGENTS.map(toInfo)

/**
 * Starts the agents on free ports of this computer, registers them with a directory and keeps them registered. If one
 * cannot be registered, all are removed again.
 *
 * @example
 * const demo = await startDemo({ baseUrl: 'http://127.0.0.1:8040', token })
 * console.log(demo.agents.map(({ id }) => id))
 * await demo.close()
 */
export async function startDemo({ baseUrl, token, fetch, onError = () => {} }: DemoOptions): Promise<Demo> {
  const directory = createClient({ baseUrl, ...(token !== undefined && { token }), ...(fetch && { fetch }) })
  const started = await Promise.allSettled(DEMO_AGENTS.map((agent) => start(agent, directory, onError)))
  const close = async (): Promise<void> => {
    await Promise.all(started.map((result) => result.status === 'fulfilled' && result.value()))
  }
  const failure = started.find((result) => result.status === 'rejected')
  if (failure) {
    await close()
    throw failure.reason
  }
  return { agents: DEMO_INFO, close }
}

/** Starts and registers one agent; returns how to remove and stop it. */
async function start(
  agent: DemoAgent,
  directory: DirectoryClient,
  onError: (error: unknown) => void,
): Promise<() => Promise<void>> {
  if ('create' in agent) {
    const made = agent.create()
    try {
      await made.listen()
      // A profile has examples, which search uses.
      await made.register(directory, { format: 'profile', lifetime: LIFETIME })
    } catch (error) {
      await made.close()
      throw error
    }
    return made.close
  }
  const { document, format, close } = await agent.start()
  try {
    const options = { document, format, id: agent.id, lifetime: LIFETIME, onError }
    const registration = await keepRegistered(directory, options)
    return async () => {
      await registration.close()
      await close()
    }
  } catch (error) {
    await close()
    throw error
  }
}

function toInfo(agent: DemoAgent): DemoInfo {
  if ('create' in agent) {
    const { create: _create, ...info } = agent
    return info
  }
  const { start: _start, ...info } = agent
  return info
}
