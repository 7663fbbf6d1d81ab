import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from '@switchboard/server'

/**
 * A directory on a free port of this computer, in a folder that goes when it is closed. Its `key` is the
 * administrator's, which may do everything; publishers and callers of a real one have keys of their own.
 */
export async function startDirectory() {
  const data = await mkdtemp(join(tmpdir(), 'switchboard-example-'))
  const server = await createServer({ port: 0, data, logLevel: 'error' })
  return {
    url: await server.listen(),
    key: server.generatedAdminKey,
    async close() {
      await server.close()
      await rm(data, { recursive: true, force: true })
    },
  }
}
