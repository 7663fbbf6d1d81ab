import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../server/test/support/directory.js'
import { temporaryFolder } from '../../server/test/support/process.js'
import { aidip } from './support/cli.js'
import { runQuietly } from './support/run-quietly.js'

const folder = temporaryFolder()
const at = (name: string): string => join(folder.path, name)
let [directory, other]: TestDirectory[] = []
beforeAll(async () => {
  ;[directory, other] = await Promise.all([startDirectory({ data: at('data') }), startDirectory()])
})
afterAll(async () => {
  await Promise.all([directory?.close(), other?.close()])
  folder.remove()
})

/** Runs the command as the administrator of a directory. */
const cli = (of: TestDirectory | undefined, ...args: string[]) =>
  runQuietly(args, { SWITCHBOARD_URL: of?.url ?? '', SWITCHBOARD_TOKEN: of?.adminKey ?? '' })

describe('switchboard export', () => {
  it('writes every document with its owner, for switchboard import --bulk', async () => {
    const agents = [
      { id: 'one', format: 'aidip', owner: 'admin', document: aidip('one') },
      { id: 'two', format: 'aidip', owner: 'team-a', document: aidip('two', { visibility: 'private' }) },
      { id: 'three', format: 'aidip', owner: 'team-b', document: aidip('three') },
    ]
    writeFileSync(at('agents.ndjson'), `${agents.map((agent) => JSON.stringify(agent)).join('\n')}\n`)
    const imported = 'imported 3 (3 new, 0 updated), 0 failed\n'
    expect(await cli(directory, 'import', at('agents.ndjson'), '--bulk')).toMatchObject({ stdout: imported })
    expect(await cli(directory, 'export', at('all.ndjson'))).toMatchObject({ code: 0, stdout: 'exported 3 agents\n' })
    const lines = readFileSync(at('all.ndjson'), 'utf8').trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(agents)
    expect(statSync(at('all.ndjson')).mode & 0o077).toBe(0)

    expect(await cli(other, 'import', at('all.ndjson'), '--bulk')).toMatchObject({ code: 0, stdout: imported })
    await cli(other, 'export', at('again.ndjson'))
    expect(readFileSync(at('again.ndjson'), 'utf8')).toBe(readFileSync(at('all.ndjson'), 'utf8'))
  })

  it('does not overwrite a file, and leaves none behind if it fails', async () => {
    writeFileSync(at('mine'), 'not a backup')
    expect(await cli(directory, 'export', at('mine'))).toMatchObject({ code: 2 })
    expect(await cli(directory, 'export', at('none'), '--token', 'sb_wrong')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/--token/),
    })
    expect(existsSync(at('none')) || existsSync(at('none.partial'))).toBe(false)
    expect(await cli(directory, 'export', at('no/such/folder'))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/cannot be written \(ENOENT\)/),
    })
  })
})

describe('switchboard backup, restore and migrate', () => {
  it('copy a directory that is running, and report what they did', async () => {
    const backup = await cli(directory, 'backup', at('b'), '--data', at('data'), '--json')
    expect(JSON.parse(backup.stdout)).toMatchObject({ agents: expect.any(Number), file: at('b') })
    expect(statSync(at('b')).mode & 0o777).toBe(0o600)
    expect(await cli(directory, 'restore', at('b'), '--verify')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/is complete, made at 20\S+: \d+ agents/),
    })
    expect(await cli(directory, 'restore', at('b'), '--data', at('c'))).toMatchObject({ code: 0 })
    expect(await cli(directory, 'migrate', '--from', at('c'), '--to', at('d'))).toMatchObject({ code: 0 })
    expect(await cli(directory, 'restore', at('b'), '--data', at('d'), '--replace')).toMatchObject({ code: 0 })
  })

  it.each([
    [['backup'], /use: switchboard backup FILE/],
    [['backup', 'mine'], /already exists/],
    [['backup', 'x', '--data', 'nowhere'], /there is no store in/],
    [['backup', 'x', '--database', 'postgres://127.0.0.1:1/x'], /PostgreSQL at 127\.0\.0\.1:1\/x/],
    [['restore', 'mine', '--data', 'fresh'], /the backup cannot be read: incorrect header check/],
    [['restore', 'missing', '--data', 'fresh'], /the backup cannot be read: ENOENT/],
    [['restore', 'b', '--data', 'c'], /not empty.*--replace/],
    [['restore', 'b', '--data', 'data'], /another server uses the store/],
    [['migrate', '--from', 'x'], /name both stores/],
    [['migrate', '--from', 'data', '--to', 'y'], /another server uses the store/],
  ])('reject %j in one line, with exit code 2', async (args, reason) => {
    const paths = args.map((arg) => (/^[a-z]+$/.test(arg) && arg !== args[0] ? at(arg) : arg))
    const { code, stdout, stderr } = await runQuietly(paths)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(reason)
    expect(stderr).toMatch(/^switchboard: [^\n]+\n$/)
    expect(existsSync(at('x'))).toBe(false)
  })
})
