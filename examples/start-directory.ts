import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from '@switchboard/server'

/** A directory on a free port of this computer. */
export interface ExampleDirectory {
  readonly url: string
  /** The administrator's key, which may do everything; publishers and callers of a real directory have their own. */
  readonly token: string
  close(): Promise<void>
}

/** Starts a directory that keeps its data in a temporary folder. */
export async function startDirectory(): Promise<ExampleDirectory> {
  const data = await mkdtemp(join(tmpdir(), 'switchboard-example-'))
  const server = await createServer({ port: 0, data, logLevel: 'error' })
  return {
    url: await server.listen(),
    token: server.generatedAdminKey ?? '',
    async close() {
      await server.close()
      await rm(data, { recursive: true, force: true })
    },
  }
}
