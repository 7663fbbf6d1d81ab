import { vi } from 'vitest'
import type { Ended } from '../../../server/test/support/process.js'
import { run } from '../../src/run.js'

/** What a command printed, and its exit code. */
export type Finished = Omit<Ended, 'signal'>

/** Variables that the command reads, and those that decide about colours and the name of the command. */
const READ = /^(SWITCHBOARD_|NO_COLOR$|FORCE_COLOR$|TERM$|npm_)/

let isRunning = false

/** Runs a command in this process and captures its output. It sees none of the variables of whoever runs the tests. */
export async function runQuietly(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  if (isRunning) throw new Error('commands in one process share stdout: run one after the other')
  isRunning = true
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
  const spies = [capture(process.stdout, stdout), capture(process.stderr, stderr)]
  const handlers = SIGNALS.map((signal) => [signal, new Set(process.listeners(signal))] as const)
  for (const name of Object.keys(process.env)) if (READ.test(name)) vi.stubEnv(name, undefined)
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  try {
    const code = await run([...args])
    return { code, stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString() }
  } finally {
    for (const spy of spies) spy.mockRestore()
    vi.unstubAllEnvs()
    // A command handles signals until its process ends. This one goes on.
    for (const [signal, before] of handlers)
      for (const handler of process.listeners(signal)) if (!before.has(handler)) process.off(signal, handler)
    isRunning = false
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const

const capture = (stream: NodeJS.WriteStream, into: Buffer[]) =>
  vi.spyOn(stream, 'write').mockImplementation((data) => into.push(Buffer.from(data)) > 0)
