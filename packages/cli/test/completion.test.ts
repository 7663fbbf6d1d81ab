import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../server/test/support/process.js'
import { runQuietly } from './support/run-quietly.js'

const folder = temporaryFolder()
const scriptOf = (shell: string): string => join(folder.path, `completion.${shell}`)
const isInstalled = (shell: string): boolean => spawnSync(shell, ['--version']).status === 0

beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, stdout } = await runQuietly(['completion', shell])
    expect(code).toBe(0)
    writeFileSync(scriptOf(shell), stdout)
  }
})
afterAll(folder.remove)

const CASES: [line: string[], expected: string[]][] = [
  [['se'], ['serve', 'search']],
  [
    ['keys', ''],
    ['list', 'create', 'revoke', 'reset-admin'],
  ],
  [['keys', 'cr'], ['create']],
  [['keys', 'create', 'me', '--sc'], ['--scopes']],
  [['help', 'keys', 'res'], ['reset-admin']],
  [
    ['get', 'translator', '--view', 'a'],
    ['aidip', 'aidip-00', 'ad', 'agent.json', 'a2a'],
  ],
  [['serve', '--log-level', 'wa'], ['warn']],
  [['--ver'], ['--version']],
]

describe('completion', () => {
  it.each(CASES)('in bash of %j', (line, expected) => {
    const program = `. "$1"; shift; COMP_WORDS=(switchboard "$@"); COMP_CWORD=$#; _switchboard; printf '%s\\n' "\${COMPREPLY[@]}"`
    const output = execFileSync('bash', ['-c', program, 'bash', scriptOf('bash'), ...line], { encoding: 'utf8' })
    expect(output.trim().split('\n')).toEqual(expected)
  })

  it.skipIf(!isInstalled('fish')).each(CASES)('in fish of %j', (line, expected) => {
    const program = `source $argv[1]; complete -C "switchboard $argv[2]"`
    const output = execFileSync('fish', ['--no-config', '-c', program, scriptOf('fish'), line.join(' ')], {
      encoding: 'utf8',
    })
    const words = output.split('\n').flatMap((each) => (each === '' ? [] : [each.split('\t')[0]]))
    expect(words.sort()).toEqual([...expected].sort())
  })

  it.skipIf(!isInstalled('zsh')).each(CASES)('in zsh of %j', (line, expected) => {
    // Replaces the functions of zsh that show what matches: they work in an interactive shell only.
    const program = `
      compdef() { }
      _files() { }
      show() { local each; for each in "$@"; do each=\${each%%:*}; [[ $each == "$PREFIX"* ]] && print -r -- $each; done; true }
      _describe() { show "\${(@P)2}" }
      compadd() { shift; show "$@" }
      source $1; shift
      words=(switchboard "$@"); CURRENT=$#words; PREFIX=$words[CURRENT]
      _switchboard`
    const output = execFileSync('zsh', ['-f', '-c', program, 'zsh', scriptOf('zsh'), ...line], { encoding: 'utf8' })
    expect(output.trim().split('\n')).toEqual(expected)
  })

  it('rejects another shell', async () => {
    expect(await runQuietly(['completion', 'tcsh'])).toMatchObject({
      code: 2,
      stderr: 'switchboard: there is no completion for "tcsh": use bash, zsh, fish\n',
    })
  })
})
