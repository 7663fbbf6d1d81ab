import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { type CallRecipe, quoteForShell, toCommand, toCurl, toTypeScript } from './call-code.js'

const NASTY = `it's "quoted" $HOME \`date\` \\ * ; & \n é 中 !`
const recipe: CallRecipe = {
  baseUrl: 'https://directory.example',
  agent: 'acme/plan ner',
  operation: "day's",
  input: { text: NASTY },
  mode: 'wait',
  searchId: undefined,
  agentCredential: undefined,
}

/** The arguments that a shell makes of a command line. */
const argumentsOf = (command: string): string[] => {
  const [name = '', ...rest] = command.split(' ')
  const script = `${name}() { printf '%s\\0' "$@"; }\n${name} ${rest.join(' ')}`
  const env = { SWITCHBOARD_TOKEN: 'sb_test', PATH: process.env.PATH }
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', env }).split('\0').slice(0, -1)
}

describe('the command of a call', () => {
  it('survives the shell whatever the input contains', () => {
    const sent = argumentsOf(toCurl(recipe))
    expect(sent).toContain("https://directory.example/agents/acme%2Fplan%20ner/operations/day's")
    expect(sent).toContain('Authorization: Bearer sb_test')
    expect(JSON.parse(sent.at(-1) ?? '')).toEqual(recipe.input)
    const called = argumentsOf(toCommand(recipe))
    expect(called.slice(0, 4)).toEqual(['call', 'acme/plan ner', '--operation', "day's"])
    expect(JSON.parse(called[5] ?? '')).toEqual(recipe.input)
    expect(argumentsOf(`x ${quoteForShell(NASTY)} ${quoteForShell('')}`)).toEqual([NASTY, ''])
  })

  it('says how the call is made', () => {
    expect(toCurl({ ...recipe, mode: 'stream' })).toMatch(/^curl -sN [\s\S]*Accept: text\/event-stream/)
    expect(toCurl({ ...recipe, mode: 'later', searchId: 's 1' })).toMatch(
      /Prefer: respond-async[\s\S]*X-Search-ID: s 1/,
    )
    expect(toCommand({ ...recipe, mode: 'stream' })).toContain('--stream')
    expect(toTypeScript({ ...recipe, mode: 'stream' })).toContain('for await')
    expect(toTypeScript({ ...recipe, mode: 'later' })).toContain('respondAsync: true')
    expect(toCurl({ ...recipe, agentCredential: 'api_key' })).toContain('X-Agent-API-Key: $SWITCHBOARD_AGENT_KEY')
  })

  it('reads a long input from a file', () => {
    const long = { ...recipe, input: { text: 'x'.repeat(5000) } }
    expect(toCurl(long)).toContain('--data-binary @input.json')
    expect(toCommand(long)).toContain('--input @input.json')
    expect(toTypeScript(long)).toContain("readFile('input.json', 'utf8')")
  })
})

it('writes the input as an expression that evaluates to it', () => {
  const input = JSON.parse('{"__proto__": {"a": 1}, "text": "\\"__proto__\\": `$x` \\u2028"}')
  const text = toTypeScript({ ...recipe, input })
  const [, literal = ''] = /const input = ([\s\S]*?)\nconst \{ output/.exec(text) ?? []
  expect(JSON.stringify(new Function(`return ${literal}`)())).toBe(JSON.stringify(input))
})
