import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import {
  ADMIN_KEY,
  type Ended,
  type Running,
  type ServerProcess,
  startServer,
  switchboard,
  temporaryFolder,
} from '../../../server/test/support/process.js'

/** A running directory, and the command to use it with, as separate processes. */
export interface Bench {
  readonly url: string
  readonly folder: string
  /** Runs the command as the administrator, against the directory. */
  cli(...args: string[]): Promise<Ended>
  /** The same without a key. */
  stranger(...args: string[]): Promise<Ended>
  /** Starts a command that runs until it is stopped. */
  start(...args: string[]): Running
  /** Writes a file and returns its path. */
  file(name: string, content: unknown): string
  close(): Promise<void>
}

export async function startBench(): Promise<Bench> {
  const folder = temporaryFolder()
  const file = (name: string, content: unknown): string => {
    const path = join(folder.path, name)
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content, undefined, 2))
    return path
  }
  // Without the embedding model, which these tests do not need and would wait for.
  const config = file('config.json', { search: { embedder: 'none' }, rateLimits: { register: 100_000 } })
  const server: ServerProcess = await startServer(['--data', join(folder.path, 'data'), '--config', config])
  const env = { SWITCHBOARD_URL: server.url, SWITCHBOARD_TOKEN: ADMIN_KEY }
  const running: Running[] = []
  const start = (args: string[], more: Record<string, string>): Running => {
    const program = switchboard(args, { env: more, cwd: folder.path })
    running.push(program)
    return program
  }
  return {
    url: server.url,
    folder: folder.path,
    cli: (...args) => start(args, env).ended,
    stranger: (...args) => start(args, { SWITCHBOARD_URL: server.url }).ended,
    start: (...args) => start(args, env),
    file,
    async close() {
      for (const { child } of running) child.kill('SIGKILL')
      await Promise.all(running.map(({ ended }) => ended))
      await server.stop()
      folder.remove()
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
