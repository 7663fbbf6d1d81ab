import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { ServerDeps } from '../../../server/src/app.js'
import { startDirectory } from '../../../server/test/support/directory.js'
import {
  ADMIN_KEY,
  type Running,
  startServer,
  switchboard,
  temporaryFolder,
} from '../../../server/test/support/process.js'
import { type Finished, runQuietly } from './run-quietly.js'

/** A running directory, and the command to use it with. */
export interface Bench {
  readonly url: string
  readonly adminKey: string
  readonly folder: string
  /** The data folder of the directory. */
  readonly data: string
  /** Runs the command as the administrator, against the directory. */
  cli(...args: string[]): Promise<Finished>
  /** The same without a key. */
  stranger(...args: string[]): Promise<Finished>
  /** Starts a command that runs until it is stopped, in a process of its own. */
  start(...args: string[]): Running
  /** Writes a file and returns its path. */
  file(name: string, content: unknown): string
  close(): Promise<void>
}

// Without the embedding model, which these tests do not need and would wait for.
const CONFIG = { search: { embedder: 'none' as const }, rateLimits: { register: 100_000 } }

/** Runs the directory and its commands in the process of the test: a process for each takes most of a test's time. */
export async function startBench(deps?: ServerDeps): Promise<Bench> {
  const files = createFiles()
  const { url, adminKey, close } = await startDirectory({ ...CONFIG, data: files.data }, deps)
  const directory = { SWITCHBOARD_URL: url }
  const administrator = { ...directory, SWITCHBOARD_TOKEN: adminKey }
  const programs = createPrograms(files.folder)
  return {
    url,
    adminKey,
    ...files,
    cli: (...args) => runQuietly(args, administrator),
    stranger: (...args) => runQuietly(args, directory),
    start: (...args) => programs.start(args, administrator),
    async close() {
      await programs.kill()
      await close()
      files.remove()
    },
  }
}

/** The same with a process for the directory and one for each command, as people run them. */
export async function startProcesses(): Promise<Bench> {
  const files = createFiles()
  const { url, stop } = await startServer(['--data', files.data, '--config', files.config])
  const directory = { SWITCHBOARD_URL: url }
  const administrator = { ...directory, SWITCHBOARD_TOKEN: ADMIN_KEY }
  const programs = createPrograms(files.folder)
  return {
    url,
    adminKey: ADMIN_KEY,
    ...files,
    cli: (...args) => programs.start(args, administrator).ended,
    stranger: (...args) => programs.start(args, directory).ended,
    start: (...args) => programs.start(args, administrator),
    async close() {
      await programs.kill()
      await stop()
      files.remove()
    },
  }
}

/** A temporary folder, with a config file and a place for the data. */
function createFiles() {
  const { path: folder, remove } = temporaryFolder()
  const file = (name: string, content: unknown): string => {
    const path = join(folder, name)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2))
    return path
  }
  return { folder, data: join(folder, 'data'), config: file('config.json', CONFIG), file, remove }
}

/** Starts commands as processes, and ends those that still run. */
function createPrograms(cwd: string) {
  const running: Running[] = []
  return {
    start(args: readonly string[], env: Record<string, string>): Running {
      const program = switchboard(args, { env, cwd })
      running.push(program)
      return program
    },
    async kill() {
      for (const { child } of running) child.kill('SIGKILL')
      await Promise.all(running.map(({ ended }) => ended))
    },
  }
}

/** Starts a web server. */
export async function startWeb(
  handle: (
    request: { url: string; method: string; body: string; headers: IncomingMessage['headers'] },
    response: ServerResponse,
  ) => unknown,
): Promise<{ readonly url: string; readonly host: string; close(): Promise<void> }> {
  const server = createServer(async (message, response) => {
    let body = ''
    for await (const chunk of message.setEncoding('utf8')) body += chunk
    handle({ url: message.url ?? '', method: message.method ?? '', body, headers: message.headers }, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const host = `127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
  return {
    url: `http://${host}`,
    host,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export const aidip = (id: string, more: object = {}): object => ({
  id,
  name: `The ${id}`,
  description: `Does what a ${id} does.`,
  capabilities: [`${id}-things`],
  tags: ['tested'],
  endpoint: `https://${id}.example`,
  inputs: {},
  outputs: {},
  ...more,
})
