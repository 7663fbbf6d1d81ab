import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const CLI = join(ROOT, 'packages/cli/dist/main.js')

/** The admin key of servers started without another one. */
export const ADMIN_KEY = 'administrator-of-the-child'

/** A program running beside the test. */
export interface Running {
  readonly child: ChildProcess
  stdout(): string
  stderr(): string
  /** Resolves when the program has ended. */
  readonly ended: Promise<Ended>
  /** Resolves when stdout or stderr has the text; rejects when the program ends without it. */
  printed(text: string | RegExp): Promise<void>
}

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** On top of a clean environment: PATH and HOME only. */
  readonly env?: Record<string, string>
  readonly cwd?: string
  /** The file of the command `switchboard`. Default: the one of this version. */
  readonly cli?: string
}

/** Starts a program and collects its output. */
export function run(command: string, args: readonly string[], { env = {}, cwd = ROOT }: RunOptions = {}): Running {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(command, args, { cwd, env: { PATH, HOME, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  const watchers = new Set<() => void>()
  const notify = (): void => {
    for (const watcher of watchers) watcher()
  }
  child.stdout?.on('data', (chunk) => {
    stdout += chunk
    notify()
  })
  child.stderr?.on('data', (chunk) => {
    stderr += chunk
    notify()
  })
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (![stdout, stderr].some((all) => (typeof text === 'string' ? all.includes(text) : text.test(all)))) return
          watchers.delete(check)
          resolve()
        }
        watchers.add(check)
        check()
        ended.then(() => reject(new Error(`ended without printing ${text}: ${stdout}${stderr}`)), reject)
      }),
  }
}

/** Runs `switchboard` with these arguments. */
export const switchboard = (args: readonly string[], options?: RunOptions): Running =>
  run(process.execPath, [options?.cli ?? CLI, ...args], options)

/** A server in its own process. */
export interface ServerProcess extends Running {
  readonly url: string
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/** Starts `switchboard serve` on a free port and waits until it is ready. */
export async function startServer(args: readonly string[], options: RunOptions = {}): Promise<ServerProcess> {
  const env = { SWITCHBOARD_ADMIN_KEY: ADMIN_KEY, ...options.env }
  const server = switchboard(['serve', '--port', '0', ...args], { ...options, env })
  await server.printed(/^switchboard ready on \S+\n/m)
  return {
    ...server,
    url: /ready on (\S+)/.exec(server.stdout())?.[1] ?? '',
    stop(signal = 'SIGTERM') {
      server.child.kill(signal)
      return server.ended
    },
  }
}

/** A new folder that the caller removes. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'switchboard-test-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
