import { type DemoInfo, DirectoryError } from '@switchboard/protocol'
import type { Caller } from '../../policy/caller.js'
import type { Context } from '../context.js'
import { removeAgent } from '../registry/remove.js'

/** How the agents of the demo reach the directory: as their own subject, without a key. */
export interface DemoAccess {
  readonly baseUrl: string
  readonly fetch: typeof fetch
}

/** The running agents of a demo. */
export interface RunningDemo {
  readonly agents: readonly DemoInfo[]
  /** Removes them from the directory and stops them. */
  close(): Promise<void>
}

/** Starts agents in this process that register with the directory. */
export type StartDemo = (access: DemoAccess & { readonly onError: (error: unknown) => void }) => Promise<RunningDemo>

/** A demo that administrators start and stop. */
export interface DemoRun {
  status(): DemoStatus
  /** Starts the agents, unless they are running. */
  start(): Promise<{ readonly created: boolean; readonly agents: readonly DemoInfo[] }>
  /** Stops the agents, and removes those that an earlier run has left. */
  stop(): Promise<void>
  /** Stops the agents if they are running. */
  close(): Promise<void>
}

export interface DemoStatus {
  readonly available: boolean
  readonly running: boolean
  readonly agents: readonly DemoInfo[]
}

export interface DemoRunOptions {
  readonly context: Context
  readonly start: StartDemo | undefined
  readonly connect: (caller: Caller) => DemoAccess
  readonly onError: (error: unknown) => void
}

/** The owner of the demo's agents, and the only names that they can take. */
export const DEMO_SUBJECT = 'switchboard-demo'
export const DEMO_NAMES: readonly string[] = ['demo-*']

/** Agents to try the directory with, in its own process. Only in development mode: they use loopback and plain HTTP. */
export function createDemo({ context, start, connect, onError }: DemoRunOptions): DemoRun {
  const caller: Caller = {
    subject: DEMO_SUBJECT,
    kind: 'key',
    scopes: new Set(['publish']),
    names: DEMO_NAMES,
    address: '127.0.0.1',
    requestId: context.newId(),
  }
  let running: RunningDemo | undefined
  /** One at a time: agents that are being removed must not remove those of the next run. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => context.mutex.run(DEMO_SUBJECT, work)

  const available = (): StartDemo => {
    if (context.production) {
      throw new DirectoryError(
        'forbidden',
        'the demo is for development mode: a directory on loopback, without TLS and without --behind-proxy',
      )
    }
    if (start) return start
    throw new DirectoryError('not_found', 'this directory has no demo: start it with switchboard serve')
  }
  const begin = async (launch: StartDemo): Promise<RunningDemo> => {
    try {
      return await launch({ ...connect(caller), onError })
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new DirectoryError('conflict', `the demo could not be started: ${reason}`, { cause: error })
    }
  }
  const end = async (): Promise<void> => {
    const ending = running
    running = undefined
    await ending?.close()
  }

  return {
    status() {
      const isAvailable = !context.production && start !== undefined
      return { available: isAvailable, running: running !== undefined, agents: running?.agents ?? [] }
    },
    async start() {
      const launch = available()
      return inTurn(async () => {
        const created = running === undefined
        running ??= await begin(launch)
        return { created, agents: running.agents }
      })
    },
    async stop() {
      available()
      await inTurn(async () => {
        await end()
        const left = context.ownAgents.list(DEMO_SUBJECT, { skip: 0, take: Number.POSITIVE_INFINITY })
        for (const { record } of left.agents) await removeAgent(context, record.id, caller)
      })
    },
    close: () => inTurn(end),
  }
}
