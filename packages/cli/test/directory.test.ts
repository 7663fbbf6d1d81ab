import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT, run } from '../../server/test/support/process.js'
import { aidip, type Bench, startBench, startWeb } from './support/cli.js'
import { runQuietly } from './support/run-quietly.js'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
})
afterAll(() => bench.close())

const CARD = {
  name: 'Weather card',
  description: 'Knows the weather.',
  url: 'https://weather.example/a2a',
  version: '1.0.0',
  protocolVersion: '0.3.0',
  capabilities: {},
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{ id: 'forecast', name: 'Forecast', description: 'Tells the weather', tags: [] }],
}

describe('switchboard register, get, search and remove', () => {
  it('register, update, show, find and remove an agent, as text and as JSON', async () => {
    const registered = await bench.cli('register', bench.file('baker.json', aidip('baker')))
    expect(registered).toMatchObject({ code: 0, stdout: 'registered baker\n' })
    expect(await bench.cli('register', bench.file('baker.json', aidip('baker', { version: '2.0.0' })))).toMatchObject({
      code: 0,
      stdout: 'updated baker\n',
    })

    const shown = await bench.cli('get', 'baker')
    expect(shown.stdout).toMatch(/^id {2,}baker$/m)
    expect(shown.stdout).toMatch(/^capabilities {2,}baker-things$/m)
    expect(JSON.parse((await bench.cli('get', 'baker', '--json')).stdout)).toMatchObject({
      id: 'baker',
      version: '2.0.0',
    })
    const card = JSON.parse((await bench.cli('get', 'baker', '--view', 'a2a', '--json')).stdout)
    expect(card).toMatchObject({ supportedInterfaces: [{ url: `${bench.url}/agents/baker/a2a` }, {}] })

    const found = await bench.stranger('search', 'what', 'a', 'baker', 'does')
    expect(found.stdout).toMatch(
      /^ID +NAME +SCORE +DESCRIPTION\nbaker +The baker +\d\.\d\d +Does what a baker does\.\n/,
    )
    const misspelled = await bench.stranger('search', 'bakre')
    expect(misspelled.stderr).toBe('switchboard: searched for "baker" instead of "bakre" (--exact to keep it)\n')
    expect(misspelled.stdout).toContain('The baker')
    expect(await bench.stranger('search', 'bakre', '--exact')).toMatchObject({ stdout: 'no agents found\n' })
    const explained = await bench.stranger('search', 'baker', '--why')
    expect(explained.stdout).toMatch(
      /^baker {2}0\.\d{4} {2}The baker\n {2}words +█+ +\+0\.\d{4} {2}baker\n(?: {2}\w+ +[█░]+ +[+-]0\.\d{4} {2}.+\n)* {2}matched +baker\n {2}text +Does what a baker does\.\n/,
    )
    expect(explained.stderr).toMatch(/^switchboard: search id: [\w-]{50,}\n$/)
    const json = JSON.parse((await bench.stranger('search', '--tag', 'tested', '--json', '--limit', '1')).stdout)
    expect(json).toMatchObject([{ id: 'baker' }])
    expect((await bench.stranger('search', '--tag', 'nobody-has-this')).stdout).toBe('no agents found\n')

    expect(await bench.cli('remove', 'baker')).toMatchObject({ code: 0, stdout: 'removed baker\n' })
    expect(await bench.cli('get', 'baker')).toMatchObject({ code: 1, stdout: '' })
  })

  it('read a card, an entry of the Agent Directory, and stdin', async () => {
    const answer = await bench.cli('register', bench.file('card.json', CARD), '--id', 'weather', '--json')
    expect(JSON.parse(answer.stdout)).toMatchObject({ id: 'weather', created: true })
    const entry = bench.file('entry.json', {
      agent: 'entry',
      base: 'https://entry.example',
      protocols: ['https'],
      lt: 5,
    })
    expect((await bench.cli('register', entry, '--lifetime', '600')).stdout).toBe('registered entry for 600 s\n')
    const silent = bench.file('silent.json', { agent: 'silent', base: 'https://entry.example', protocols: ['grpc'] })
    await bench.cli('register', silent)
    expect(await bench.cli('get', 'silent', '--view', 'a2a')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/has no A2A card: it does not speak A2A.*Its other documents: \/agents\/silent,/),
    })
    const shell = `cat '${bench.file('piped.json', aidip('piped'))}' | '${process.execPath}' '${ROOT}/packages/cli/dist/main.js' register - --url ${bench.url} --token ${bench.adminKey}`
    expect(await run('sh', ['-c', shell]).ended).toMatchObject({ code: 0, stdout: 'registered piped\n' })
  })

  it('register the output of get', async () => {
    await bench.cli('register', bench.file('round.json', aidip('round')))
    const { stdout } = await bench.cli('get', 'round', '--json')
    expect(await bench.cli('register', bench.file('shown.json', stdout))).toMatchObject({ code: 0 })
  })

  it('report failures in one line that names the member, with exit code 1', async () => {
    const { capabilities: _left, ...rest } = { capabilities: [], ...aidip('broken') }
    const refused = await bench.cli(
      'register',
      bench.file('broken.json', { ...rest, endpoint: 7 }),
      '--format',
      'aidip',
    )
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/^switchboard: [^\n]*\/endpoint[^\n]*\n$/)
    expect(await bench.stranger('register', bench.file('x.json', aidip('x')))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^switchboard: [^\n]*--token or SWITCHBOARD_TOKEN[^\n]*\n$/),
    })
    expect(await bench.cli('get', 'nobody')).toMatchObject({ code: 1, stderr: expect.stringMatching(/nobody/) })
    expect(await bench.cli('search', 'x', '--url', 'http://127.0.0.1:1')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^switchboard: 127\.0\.0\.1:1 is not responding[^\n]*--url[^\n]*\n$/),
    })
    expect(await bench.cli('search', 'x', '--url', 'http://directory.example', '--token', 'secret')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/without TLS/),
    })
  })

  it.each([
    [['search', '--limit', '0'], /--limit must be a whole number from 1/],
    [['search', '--limt', '3'], /--limt/],
    [['search', '--filter', 'x'], /--filter must be NAME=TEXT/],
    [['call', 'agent://a.example/', '--search-id', 'x'], /--search-id is only for ids/],
    [['get'], /switchboard get ID/],
    [['get', 'a', '--view', 'b'], /--view must be one of aidip/],
    [['remove'], /switchboard remove ID/],
    [['register'], /switchboard register FILE/],
    [['register', '/no/such'], /\/no\/such: cannot be read \(ENOENT\)/],
    [
      ['register', 'config.json'],
      /config\.json: the format of the document cannot be detected; choose one with --format/,
    ],
    [['register', 'config.json', '--format', 'x'], /--format must be one of/],
    [['register', 'config.json', '--lifetime', '5'], /--lifetime must be a whole number from 60/],
    [['publish'], /switchboard publish FILE/],
    [['import'], /switchboard import FILE/],
    [['resolve'], /switchboard resolve URI/],
    [['resolve', 'agent://'], /not an agent URI/],
    [['call'], /switchboard call AGENT/],
    [['call', 'x', 'nothing'], /"nothing" is not a NAME=TEXT/],
    [['call', 'x', 'a=1', '--input', '{}'], /either --input or NAME=TEXT pairs/],
    [['call', 'x', '--input', '{"a":1,"a":2}'], /--input: .*duplicate member/],
    [['call', 'agent://x.example', '--operation', 'y'], /--operation is only for ids/],
    [['audit', '--since', 'yesterday'], /--since must be an RFC 3339 time/],
    [['audit', '--outcome', 'maybe'], /--outcome must be ok or refused/],
    [['keys', 'create'], /switchboard keys create SUBJECT/],
    [['keys', 'create', 'a', '--expires-in', 'x'], /--expires-in/],
    [['subjects', 'erase'], /switchboard subjects erase SUBJECT/],
    [['subjects', 'rename', 'a'], /switchboard subjects rename SUBJECT TO/],
    [['get', 'a', '--url', 'ftp://x'], /--url must be the http or https URL/],
    [['local', 'lisst'], /there is no switchboard local lisst/],
    [['local', 'allow', 'x'], /switchboard local allow ORIGIN AGENT/],
    [['local', '--bridge-port', 'x'], /--bridge-port/],
  ] satisfies [string[], RegExp][])('reject %j in one line, with exit code 2', async (args, reason) => {
    const paths = args.map((arg) => (arg === 'config.json' ? join(bench.folder, arg) : arg))
    const { code, stdout, stderr } = await runQuietly(paths, { SWITCHBOARD_URL: bench.url })
    expect(stderr).toMatch(reason)
    expect(stderr).toMatch(/^switchboard: [^\n]+\n$/)
    expect([code, stdout]).toEqual([2, ''])
  })

  it('removes control characters from untrusted text', async () => {
    const description = 'turns \u001b[31mred\u001b[0m, \u202eright to left\nand down'
    const bindings = [{ protocol: '\u001b]0;owned\u0007', endpoint: 'http://127.0.0.1:9/' }]
    await bench.cli(
      'register',
      bench.file('steering.json', aidip('steering', { description, bindings })),
      '--format',
      'aidip',
    )
    for (const args of [
      ['get', 'steering'],
      ['get', 'steering', '--json'],
      ['search', 'steering'],
    ]) {
      const { stdout } = await bench.cli(...args)
      expect(stdout).toContain('right to left')
      expect([stdout.includes('\u001b'), stdout.includes('\u202e')]).toEqual([false, false])
    }
    expect(JSON.parse((await bench.cli('get', 'steering', '--json')).stdout).description).toBe(description)
  })
})

describe('switchboard audit', () => {
  it('prints the log as text or as lines of JSON, and continues where it ended', async () => {
    await bench.cli('keys', 'create', 'audited', '--scope', 'discover')
    const json = (await bench.cli('audit', '--action', 'key.create', '--json')).stdout.trim().split('\n')
    const last = JSON.parse(json.at(-1) ?? '')
    expect(last).toMatchObject({ actor: 'admin', action: 'key.create', after: { subject: 'audited' } })
    expect((await bench.cli('audit', '--action', 'key.create')).stdout).toMatch(
      / {2}ok {2}admin {2}key\.create {2}.* for audited\n/,
    )
    expect((await bench.cli('audit', '--after', last.cursor, '--action', 'key.create')).stdout).toBe('')
    expect((await bench.cli('audit', '--limit', '1')).stdout.trim().split('\n')).toHaveLength(1)
    expect((await bench.stranger('audit')).code).toBe(1)
  })
})

describe('switchboard subjects', () => {
  it('AURI-10.1-01 shows, exports, renames and erases what is kept about a subject', async () => {
    await bench.cli('keys', 'create', 'anna', '--scope', 'discover')
    expect((await bench.cli('subjects', 'show', 'anna')).stdout).toBe('       1  key\n')
    expect((await bench.cli('subjects', 'rename', 'anna', 'anna/2')).stdout).toBe('moved 1 × key to anna/2\n')
    expect((await bench.cli('subjects', 'show', 'anna')).stdout).toMatch(/^nothing is kept about anna/)
    const lines = (await bench.cli('subjects', 'export', 'anna/2')).stdout.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ kind: 'key', value: { subject: 'anna/2' } }])
    const preview = await bench.cli('subjects', 'erase', 'anna/2')
    expect(preview).toMatchObject({ code: 2, stdout: '' })
    expect(preview.stderr).toContain('this would erase 1 × key of anna/2')
    const erased = JSON.parse((await bench.cli('subjects', 'erase', 'anna/2', '--yes', '--json')).stdout)
    expect(erased).toMatchObject({ erased: { key: 1 } })
    expect((await bench.cli('subjects', 'erase', 'anna/2', '--yes')).stderr).toContain('nothing is kept about')
    expect((await bench.stranger('subjects', 'export', 'anna/2')).code).toBe(1)
  })
})

describe('switchboard keys', () => {
  it('creates, lists and revokes keys over HTTP', async () => {
    const made = await bench.cli(
      'keys',
      'create',
      'acme',
      '--scope',
      'publish',
      '--name',
      'acme-*',
      '--expires-in',
      '600',
    )
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S{24,}\n$/) })
    const key = made.stdout.trim()
    const asAcme = (...args: string[]) => bench.stranger(...args, '--token', key)
    expect((await asAcme('register', bench.file('acme.json', aidip('acme-1')))).code).toBe(0)
    expect((await asAcme('register', bench.file('other.json', aidip('other')))).code).toBe(1)

    const listed = JSON.parse((await bench.cli('keys', 'list', '--json')).stdout)
    const own = listed.find(({ subject }: { subject: string }) => subject === 'acme')
    expect(own).toMatchObject({ scopes: ['publish'], names: ['acme-*'] })
    expect((await bench.cli('keys', 'list')).stdout).toMatch(new RegExp(`${own.id} +acme +publish +acme-\\*`))
    expect((await asAcme('keys', 'list')).code).toBe(1)

    expect((await bench.cli('keys', 'revoke', own.id)).stdout).toBe(`revoked ${own.id}\n`)
    expect(await asAcme('remove', 'acme-1')).toMatchObject({ code: 1, stderr: expect.stringMatching(/--token/) })
    expect((await bench.cli('keys', 'revoke', 'nobody')).code).toBe(1)
  })

  it('says on stderr what the key is for, except with --quiet, and takes the administrator’s key from the environment', async () => {
    const create = (...args: string[]) =>
      runQuietly(['keys', 'create', 'bob', '--scopes', 'publish, invoke', ...args], {
        SWITCHBOARD_URL: bench.url,
        SWITCHBOARD_TOKEN: 'not-the-admin',
        SWITCHBOARD_ADMIN_KEY: bench.adminKey,
      })
    expect(await create()).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\S{24,}\n$/),
      stderr: 'switchboard: bob may publish, invoke; the key is shown only once: store it safely\n',
    })
    expect(await create('--quiet')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S{24,}\n$/), stderr: '' })
    expect(await bench.stranger('keys', 'create', 'bob')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/administrator's key with --token or SWITCHBOARD_ADMIN_KEY, or .* --data\n$/),
    })
  })

  it('names an unknown scope', async () => {
    expect(await bench.cli('keys', 'create', 'acme', '--scope', 'all')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^switchboard: [^\n]*\/scopes[^\n]*"all"[^\n]*\n$/),
    })
  })
})

describe('switchboard publish', () => {
  it('registers an agent, and removes it when interrupted', async () => {
    const publishing = bench.start('publish', bench.file('guest.json', aidip('guest')), '--lifetime', '600')
    await publishing.printed('registered guest')
    const document = JSON.parse((await bench.cli('get', 'guest', '--json')).stdout)
    expect(Date.parse(document.expires_at) - Date.now()).toBeLessThanOrEqual(600_000)
    publishing.child.kill('SIGINT')
    expect(await publishing.ended).toMatchObject({ code: 0, stdout: 'registered guest\n' })
    expect((await bench.cli('get', 'guest')).code).toBe(1)
  })

  it('renews an entry of the Agent Directory, and removes it when interrupted', async () => {
    const entry = bench.file('leased.json', { agent: 'leased', base: 'https://leased.example', protocols: ['https'] })
    const publishing = bench.start('publish', entry, '--lifetime', '60')
    await publishing.printed('registered leased for 60 s')
    expect((await bench.cli('get', 'leased')).code).toBe(0)
    publishing.child.kill('SIGTERM')
    expect((await publishing.ended).code).toBe(0)
    expect((await bench.cli('get', 'leased')).code).toBe(1)
  })

  it('retries from the start while the directory is down', async () => {
    const guest = bench.file('late.json', aidip('late'))
    let isDown = true
    const seen: string[] = []
    const proxy = await startWeb(async ({ url, method, body, headers: { authorization = '' } }, response) => {
      seen.push(method)
      if (isDown) {
        response.writeHead(502).end()
        return
      }
      const headers = { authorization, 'content-type': 'application/json' }
      const answer = await fetch(bench.url + url, { method, headers, ...(body !== '' && { body }) })
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    })
    const publishing = bench.start('publish', guest, '--url', proxy.url)
    await expect.poll(() => seen.length, { timeout: 15_000 }).toBeGreaterThan(3)
    isDown = false
    await publishing.printed('registered late')
    publishing.child.kill('SIGINT')
    const { code, stderr } = await publishing.ended
    expect([code, stderr]).toEqual([0, expect.stringContaining('trying again')])
    await proxy.close()
  })

  it('does not remove the agent with --once', async () => {
    const answer = await bench.cli('publish', bench.file('stays.json', aidip('stays')), '--once')
    expect(answer).toMatchObject({ code: 0, stdout: 'registered stays\n' })
    expect((await bench.cli('get', 'stays')).code).toBe(0)
  })
})
