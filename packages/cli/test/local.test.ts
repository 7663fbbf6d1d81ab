import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Running, switchboard, temporaryFolder } from '../../server/test/support/process.js'
import { startWeb } from './support/cli.js'
import { runQuietly } from './support/run-quietly.js'

const PAGE = 'https://page.example'
const folder = temporaryFolder()
let agent: Awaited<ReturnType<typeof startWeb>>
let runtime: Running
let bridge: string

const home = join(folder.path, 'home')
const env = { HOME: home, XDG_RUNTIME_DIR: join(home, 'run') }

const cli = (...args: string[]) => runQuietly(args, env)

beforeAll(async () => {
  agent = await startWeb(({ url, body }, response) => {
    const descriptor = { name: 'notes', version: '1.0.0', description: 'Keeps notes.', capabilities: [{ name: 'add' }] }
    response.setHeader('content-type', 'application/json')
    response.end(url === '/agent.json' ? JSON.stringify(descriptor) : body)
  })
  mkdirSync(home)
  mkdirSync(env.XDG_RUNTIME_DIR, { mode: 0o700 })
  runtime = switchboard(['local', '--bridge-port', '0'], { env })
  await runtime.printed(/^switchboard local ready on \S+, bridge http:\S+\n/)
  bridge = /bridge (\S+)/.exec(runtime.stdout())?.[1] ?? ''
})
afterAll(async () => {
  runtime.child.kill('SIGKILL')
  await runtime.ended
  await agent.close()
  folder.remove()
})

const post = (path: string, body: unknown, token = '') =>
  fetch(bridge + path, {
    method: 'POST',
    headers: { origin: PAGE, 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  })

describe('switchboard local', () => {
  it('AURI-6.1-03 registers an agent that switchboard call finds by agent+local://name', async () => {
    expect((await cli('local', 'list')).stdout).toBe('no local agents\n')
    const added = await cli('local', 'add', 'notes', agent.url)
    expect(added).toMatchObject({ code: 0, stdout: 'agent+local://notes is registered: add\n' })
    expect((await cli('local', 'list')).stdout).toMatch(/^agent\+local:\/\/notes +add +http:\S+ +Keeps notes\.$/m)
    expect(JSON.parse((await cli('local', 'list', '--json')).stdout)).toMatchObject([{ name: 'notes', url: agent.url }])
    expect((await cli('call', 'agent+local://notes/add', 'text=milk')).stdout).toBe('{\n  "text": "milk"\n}\n')
    expect((await cli('local', 'log')).stdout).toMatch(/call +notes +add +200 +a program$/m)
    expect((await cli('local', 'remove', 'notes')).stdout).toBe('removed notes\n')
    expect((await cli('call', 'agent+local://notes/add')).code).toBe(1)
    expect((await cli('local', 'remove', 'notes')).code).toBe(1)
  })

  it('AURI-6.1-09 reports the request of a page, which may call after allow and until revoke', async () => {
    await cli('local', 'add', 'notes', agent.url)
    const logged = async () => JSON.parse((await cli('local', 'log', '--json')).stdout).length
    const before = await logged()
    const asking = post('/consents', { agent: 'notes', capability: 'add' })
    await runtime.printed(
      `${PAGE} wants to call add of notes; to allow it: switchboard local allow ${PAGE} 'notes' 'add'\n`,
    )
    expect((await cli('local', 'consents')).stdout).toMatch(/https:\/\/page\.example +notes +add +requested/)
    expect(await cli('local', 'allow', PAGE, 'notes', 'add')).toMatchObject({ code: 0 })
    const { token } = JSON.parse(await (await asking).text())
    expect(await (await post('/agents/notes/add', { text: 'milk' }, token)).json()).toEqual({ text: 'milk' })
    expect((await cli('local', 'consents')).stdout).toMatch(/https:\/\/page\.example +notes +add +\d{4}-/)
    expect((await cli('local', 'revoke', PAGE)).stdout).toBe(`${PAGE}: 1 consent revoked\n`)
    expect((await post('/agents/notes/add', {}, token)).status).toBe(403)
    expect((await cli('local', 'consents')).stdout).toBe('no web page may call a local agent\n')
    expect((await logged()) - before).toBe(3)
  })

  it('explains what is wrong with an origin', async () => {
    expect(await cli('local', 'allow', 'http://page.example', 'notes')).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/https:\/\/host/),
    })
  })

  it('has no bridge with --no-bridge', async () => {
    const socket = join(folder.path, 'other', 'local.sock')
    const other = switchboard(['local', '--no-bridge', '--socket', socket, '--state', join(folder.path, 'state')], {
      env,
    })
    await other.printed(`switchboard local ready on ${socket}\n`)
    expect(await cli('local', 'list', '--socket', socket)).toMatchObject({ code: 0 })
    other.child.kill('SIGINT')
    expect((await other.ended).code).toBe(0)
  })

  // The last one: it ends the runtime.
  it('listens on the default socket, for this user only, until SIGTERM', async () => {
    const socket = join(env.XDG_RUNTIME_DIR, 'switchboard', 'local.sock')
    expect(runtime.stdout()).toBe(`switchboard local ready on ${socket}, bridge ${bridge}\n`)
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    expect(statSync(join(socket, '..')).mode & 0o777).toBe(0o700)
    expect(await switchboard(['local', '--bridge-port', '0'], { env }).ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^switchboard: another local runtime is listening on [^\n]+\n$/),
    })
    const reported = runtime.stderr()
    runtime.child.kill('SIGTERM')
    expect(await runtime.ended).toMatchObject({ code: 0, stderr: reported })
    expect(await cli('local', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/start one with switchboard local/),
    })
  })
})
