import { vi } from 'vitest'
import type { Ended } from '../../../server/test/support/process.js'
import { run } from '../../src/run.js'

/** Runs a command in this process and captures its output; for commands that fail early. */
export async function runQuietly(args: string[], env: Record<string, string> = {}): Promise<Omit<Ended, 'signal'>> {
  const [stdout, stderr]: [string[], string[]] = [[], []]
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => stdout.push(String(text)) > 0)
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => stderr.push(String(text)) > 0)
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  try {
    const code = await run(args)
    return { code, stdout: stdout.join(''), stderr: stderr.join('') }
  } finally {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
  }
}
