import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT, run } from '../../server/test/support/process.js'
import { loadCommands } from '../src/catalog.js'
import { isGroup } from '../src/command/command.js'
import { runQuietly } from './support/run-quietly.js'

const commands = await loadCommands()
const paths = [...commands].flatMap(([name, entry]) => [
  [name],
  ...(isGroup(entry) ? Object.keys(entry.actions).map((action) => [name, action]) : []),
])
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

describe('help', () => {
  it.each(paths)('of %s %s has a usage and an example, with --help, -h and help', async (...path) => {
    const { code, stdout, stderr } = await runQuietly([...path, '--help'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^switchboard [\w-]+( [\w-]+)?: \S/)
    expect(stdout).toMatch(/\n\nExamples?:\n {2}\S/)
    expect(stdout).toMatch(new RegExp(`\n {2}switchboard ${path.join(' ')}( |\n)`))
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(140)
    expect((await runQuietly([...path, '-h'])).stdout).toBe(stdout)
    expect((await runQuietly(['help', ...path])).stdout).toBe(stdout)
  })

  it('lists all commands', async () => {
    const { stdout } = await runQuietly(['--help'])
    for (const name of commands.keys()) expect(stdout).toContain(`\n  switchboard ${name}`)
    expect((await runQuietly(['help'])).stdout).toBe(stdout)
  })

  it('is coloured on demand only', async () => {
    expect((await runQuietly(['keys', '-h'])).stdout).not.toContain('\u001b')
    expect((await runQuietly(['keys', '-h'], { FORCE_COLOR: '1' })).stdout).toContain(
      '\u001b[1mswitchboard keys\u001b[22m',
    )
  })

  it('--version is that of the package', async () => {
    expect(await runQuietly(['--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
  })

  it.each([
    [['serach'], 'there is no command "serach"; did you mean search?'],
    [['xyzzy'], 'there is no command "xyzzy": try switchboard --help'],
    [['help', 'keyz'], 'there is no command "keyz"; did you mean keys?'],
    [['keys', 'creat'], 'there is no switchboard keys creat; did you mean create?'],
    [['help', 'keys', 'lst'], 'there is no switchboard keys lst; did you mean list?'],
    [['search', '--limt', '3'], 'switchboard search has no option --limt; did you mean --limit?'],
    [['keys', 'create', 'me', '--scops', 'x'], 'switchboard keys create has no option --scops; did you mean --scopes?'],
    [['search', '--nonsense'], 'switchboard search has no option --nonsense: see switchboard search --help'],
    [['subjects', 'rename', 'a'], 'use: switchboard subjects rename SUBJECT TO'],
    [['audit', 'all'], 'unexpected "all"; use: switchboard audit'],
    [['keys'], /^switchboard: use: switchboard keys list, switchboard keys create SUBJECT, /],
  ])('of a mistake such as %j says what was probably meant', async (args, message) => {
    const { code, stdout, stderr } = await runQuietly(args)
    expect([code, stdout]).toEqual([2, ''])
    if (typeof message === 'string') expect(stderr).toBe(`switchboard: ${message}\n`)
    else expect(stderr).toMatch(message)
  })
})

describe('a command', () => {
  it.each([[['--help']], [['serach']], [['search', 'x', '--url', 'http://127.0.0.1:1']]])(
    'loads only what it needs: %j',
    async (args) => {
      const list = new URL('support/list-modules.mjs', import.meta.url)
      const program = run(process.execPath, ['--import', list.href, join(ROOT, 'packages/cli/dist/main.js'), ...args])
      const loaded = (await program.ended).stderr.match(/^file:.*$/gm) ?? []
      expect(loaded).toContainEqual(expect.stringMatching(/cli\/dist\/run\.js$/))
      const heavy = /\/(jose|zod|undici|yaml)\/|\/packages\/(client|protocol|local|demo|mcp|server)\/dist\/index\.js$/
      expect(loaded.filter((url) => heavy.test(url))).toEqual([])
    },
  )
})
