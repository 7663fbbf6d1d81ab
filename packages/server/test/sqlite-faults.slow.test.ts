import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, cpSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@switchboard/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aidipAgent } from './support/documents.js'
import { ADMIN_KEY, type ServerProcess, startServer, switchboard, temporaryFolder } from './support/process.js'
import { mountSmallDisk, type SmallDisk } from './support/small-disk.js'

const folder = temporaryFolder()
const disks: SmallDisk[] = []
afterAll(() => {
  for (const disk of disks) disk.unmount()
  folder.remove()
})

const SOON = { timeout: 30_000, interval: 50 }

function mountDisk(name: string, size: string): SmallDisk | undefined {
  const disk = mountSmallDisk(join(folder.path, name), size)
  if (disk) disks.push(disk)
  return disk
}

const canMount = mountDisk('trial', '64k') !== undefined

const send = async ({ url }: ServerProcess, method: string, path: string, body?: JsonObject) => {
  const response = await fetch(url + path, {
    method,
    headers: { 'x-api-key': ADMIN_KEY, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, json: text === '' ? undefined : JSON.parse(text) }
}

/** A folder with the data of a server that has stopped. */
function usedFolder(name: string): string {
  const data = join(folder.path, name)
  cpSync(used, data, { recursive: true })
  return data
}

const used = join(folder.path, 'used')
beforeAll(async () => {
  const server = await startServer(['--data', used])
  await send(server, 'POST', '/agents', aidipAgent({ id: 'kept' }))
  await server.stop()
})

function overwrite(file: string, from: number, to: number): void {
  const opened = openSync(file, 'r+')
  writeSync(opened, Buffer.alloc(to - from, 0x5a), 0, to - from, from)
  closeSync(opened)
}

/** Starting on the folder fails with exit code 2 and one line, which says this. */
async function expectRefusal(data: string, says: RegExp): Promise<void> {
  const { code, stderr, stdout } = await switchboard(['serve', '--port', '0', '--data', data]).ended
  expect(stderr).toMatch(says)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect([code, stdout]).toEqual([2, ''])
}

describe('a server does not start, and says why in one line,', () => {
  it('if its database is no database', async () => {
    const data = usedFolder('no-database')
    overwrite(join(data, 'switchboard.db'), 0, 4096)
    await expectRefusal(data, /no-database: the database is damaged: restore a backup/)
  })

  it('if parts of its database are damaged', async () => {
    const data = usedFolder('damaged')
    const file = join(data, 'switchboard.db')
    overwrite(file, 4096, statSync(file).size)
    await expectRefusal(data, /damaged: the database is damaged: restore a backup/)
  })

  it('if its folder is a file', async () => {
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    await expectRefusal(file, /file: it is not a folder/)
  })

  it.skipIf(process.getuid?.() === 0)('if it may not write to its folder', async () => {
    const data = usedFolder('unwritable')
    chmodSync(data, 0o500)
    await expectRefusal(data, /unwritable: (it is read-only|this user may not write there)/)
    chmodSync(data, 0o700)
  })

  it.skipIf(!canMount)('if its disk is read-only, with or without data', async () => {
    const disk = mountDisk('read-only', '10m') ?? expect.fail()
    usedFolder('read-only/data')
    disk.makeReadOnly()
    await expectRefusal(
      join(disk.path, 'data'),
      /data: (it is read-only: make it writable|this user may not write there)/,
    )
    await expectRefusal(join(disk.path, 'new'), /new: the folder cannot be created: make its parent folder writable/)
  })

  it.skipIf(!canMount)('if its disk is full', async () => {
    const disk = mountDisk('full', '64k') ?? expect.fail()
    await expectRefusal(join(disk.path, 'data'), /data: the disk is full: free some space/)
  })
})

describe('a running server', () => {
  /** Makes writes fail, or work again. */
  interface Disk {
    readonly data: string
    fill(server: ServerProcess): void
    free(server: ServerProcess): void
  }

  const limitSize = (server: ServerProcess, bytes: string): void =>
    void execFileSync('prlimit', ['--pid', String(server.child.pid), `--fsize=${bytes}:unlimited`])

  const faults: [string, () => Disk, RegExp, boolean][] = [
    [
      'its disk fails',
      () => {
        const data = join(folder.path, 'failing')
        const size = () => statSync(join(data, 'switchboard.db-wal')).size
        return {
          data,
          fill: (server) => limitSize(server, String(size())),
          free: (server) => limitSize(server, 'unlimited'),
        }
      },
      /the disk fails, or has no room left/,
      true,
    ],
    [
      'its disk is full',
      () => {
        const disk = mountDisk('filling', '8m') ?? expect.fail()
        return { ...disk, data: join(disk.path, 'data') }
      },
      /the disk is full: free some space/,
      canMount,
    ],
  ]

  it.each(faults)(
    'refuses writes while %s, goes on reading, and loses nothing',
    async (_name, make, reason, isPossible) => {
      if (!isPossible) return
      const disk = make()
      let server = await startServer(['--data', disk.data])
      const acknowledged: string[] = []
      /** With a document of some pages. */
      const register = async (id: string) => {
        const answer = await send(server, 'POST', '/agents', aidipAgent({ id, description: `${id} `.repeat(3000) }))
        if (answer.status === 201) acknowledged.push(id)
        return answer
      }
      const readiness = async () => (await send(server, 'GET', '/health/ready')).json
      for (let i = 0; i < 5; i++) await register(`before-${i}`)
      expect(acknowledged).toHaveLength(5)
      const logStart = server.stderr().length

      disk.fill(server)
      // What was freed before in the files can still be used.
      for (let i = 0; (await readiness()).status === 'ready' && i < 500; i++) await register(`filling-${i}`)
      await expect.poll(readiness, SOON).toMatchObject({ status: 'degraded', since: expect.any(String) })
      const refused = await register('refused')
      expect(refused).toMatchObject({ status: 503, json: { code: 'unavailable' } })
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      for (const id of acknowledged) expect((await send(server, 'GET', `/agents/${id}`)).status).toBe(200)

      disk.free(server)
      await expect.poll(readiness, SOON).toMatchObject({ status: 'ready' })
      expect((await register('after')).status).toBe(201)
      const lines = server
        .stderr()
        .slice(logStart)
        .split('\n')
        .filter((line) => /database/.test(line))
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        { msg: 'the database cannot be written: refusing writes', reason: expect.stringMatching(reason) },
        { msg: 'the database is available again' },
      ])
      expect(server.stderr()).not.toContain('"stack"')

      await server.stop('SIGKILL')
      server = await startServer(['--data', disk.data])
      for (const id of acknowledged) expect((await send(server, 'GET', `/agents/${id}`)).status).toBe(200)
      expect((await send(server, 'GET', '/agents/refused')).status).toBe(404)
      await server.stop()
    },
  )

  it('writes nothing more to a database of which a part is damaged, and goes on reading', async () => {
    const data = join(folder.path, 'damaged-later')
    const server = await startServer(['--data', data])
    await send(server, 'POST', '/agents', aidipAgent({ id: 'kept' }))
    for (const name of ['switchboard.db', 'switchboard.db-wal']) {
      const file = join(data, name)
      const { size } = statSync(file)
      if (size > 4096) overwrite(file, name.endsWith('wal') ? 32 : 4096, size)
    }
    const readiness = async () => {
      await send(server, 'GET', '/admin/audit?limit=1000')
      await send(server, 'POST', '/agents', aidipAgent({ id: 'new', description: 'new '.repeat(20_000) }))
      return (await send(server, 'GET', '/health/ready')).json.status
    }
    await expect.poll(readiness, SOON).toBe('degraded')
    expect((await send(server, 'POST', '/agents', aidipAgent({ id: 'newer' }))).status).toBe(503)
    expect((await send(server, 'GET', '/agents/kept')).status).toBe(200)
    expect(server.stderr()).toContain('the database is damaged: restore a backup')
    expect(server.stderr()).not.toContain('"stack"')
    await server.stop()
  })
})
