import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer as createDirectory, readConfig, type Server } from '@switchboard/server'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import {
  ADMIN_KEY,
  type Ended,
  ROOT,
  type Running,
  run,
  type ServerProcess,
  startServer,
  switchboard,
  temporaryFolder,
} from '../../server/test/support/process.js'
import { runQuietly } from './support/run-quietly.js'

const folder = temporaryFolder()
let folders = 0
const newData = (): string => join(folder.path, `data-${++folders}`)
const running: Running[] = []
const keep = <T extends Running>(started: T): T => {
  running.push(started)
  return started
}
const start = async (args: string[], env?: Record<string, string>): Promise<ServerProcess> =>
  keep(await startServer(args, env && { env }))

afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all(running.splice(0).map(({ ended }) => ended))
})
afterAll(folder.remove)

const file = (name: string, text: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, text)
  return path
}
const modelFolder = (name: string, model?: string): string => {
  const path = join(folder.path, name)
  mkdirSync(path)
  writeFileSync(join(path, 'manifest.json'), '{"id":"mine","dimensions":512,"maxTokens":2}')
  writeFileSync(join(path, 'vocabulary.json'), '[["<unk>",null],["▁a",-1]]')
  if (model !== undefined) writeFileSync(join(path, 'model.onnx'), model)
  return path
}
/** The file of a config without the embedding model, whose start takes time. */
const withoutModel = (): string => file('without-model.json', '{"search":{"embedder":"none"}}')
const status = async (url: string, path: string, key?: string): Promise<number> =>
  (await fetch(url + path, { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } })).status

/** Uses a directory in this process, on data that a process has left, and closes it. */
async function withDirectory<T>(
  flags: Record<string, string>,
  env: Record<string, string>,
  use: (directory: Server, status: (path: string, key: string) => Promise<number>) => Promise<T>,
): Promise<T> {
  const directory = await createDirectory(readConfig({ config: withoutModel(), 'log-level': 'silent', ...flags }, env))
  try {
    return await use(directory, async (url, key) => {
      const { statusCode } = await directory.app.inject({ url, headers: { 'x-api-key': key } })
      return statusCode
    })
  } finally {
    await directory.close()
  }
}

it('AD-1-03 serves with defaults: one process, its own data folder, no database and no config', async () => {
  const data = newData()
  const server = await start(['--port', '0', '--data', data])
  const { url } = server
  expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  expect(await (await fetch(`${url}/agents`)).json()).toEqual([])
  expect(server.child.pid).toBeGreaterThan(0)
  expect(readdirSync(data)).toContain('switchboard.db')
  // In development mode, it says on stderr where to go from here.
  await server.printed(`switchboard demo --url ${url} --data '${data}'\n`)
  expect(server.stderr()).toContain(`console         ${url}/\n`)
  const page = await fetch(url, { headers: { accept: 'text/html' } })
  expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
  expect(await status(url, '/docs')).toBe(200)
})

/** Expects one line on stderr that matches, and exit code 2. */
function expectRefusal({ code, stdout, stderr }: Omit<Ended, 'signal'>, reason: RegExp): void {
  expect(stderr).toMatch(reason)
  expect(stderr).toMatch(/^switchboard: [^\n]+\n$/)
  expect(stdout).toBe('')
  expect(code).toBe(2)
}
const expectRefused = async (program: Running, reason: RegExp): Promise<void> =>
  expectRefusal(await program.ended, reason)

const expectRefusedHere = async (args: string[], reason: RegExp, env?: Record<string, string>): Promise<void> =>
  expectRefusal(await runQuietly(args, env), reason)

describe('switchboard serve', () => {
  it('prints only the ready line on stdout, and picks a free port', async () => {
    const server = await start(['--data', newData(), '--log-level', 'trace'])
    expect(server.stdout()).toMatch(/^switchboard ready on http:\/\/127\.0\.0\.1:\d+\n$/)
    expect(new URL(server.url).port).not.toBe('8040')
    expect(await status(server.url, '/health/ready')).toBe(200)
    expect(await status(server.url, '/health/live')).toBe(200)
    const { code, stdout } = await server.stop()
    expect([code, stdout]).toEqual([0, `switchboard ready on ${server.url}\n`])
  })

  it('shows the generated administrator’s key once, and stores its hash', async () => {
    const data = newData()
    const first = await start(['--data', data, '--config', withoutModel()], { SWITCHBOARD_ADMIN_KEY: '' })
    const shown = /administrator's key, shown only once: (\S+)\n/.exec(first.stderr())?.[1] ?? ''
    expect(shown.length).toBeGreaterThanOrEqual(24)
    expect(first.stderr().split(shown)).toHaveLength(2)
    expect(first.stdout()).not.toContain(shown)
    expect(await status(first.url, '/admin/keys', shown)).toBe(200)
    await first.stop()

    const files = readdirSync(data).map((name) => readFileSync(join(data, name), 'latin1'))
    expect(files.some((text) => text.includes(shown))).toBe(false)
    expect(files.some((text) => text.includes(createHash('sha256').update(shown).digest('hex')))).toBe(true)

    await withDirectory({ data }, { SWITCHBOARD_ADMIN_KEY: '' }, async ({ generatedAdminKey }, statusOf) => {
      expect(generatedAdminKey).toBeUndefined()
      expect(await statusOf('/admin/keys', shown)).toBe(200)
    })
  })

  it('uses the key from the environment, even after it changes', async () => {
    const data = newData()
    const [first, second] = ['the-first-key-of-all', 'the-second-key-of-all']
    await withDirectory({ data }, { SWITCHBOARD_ADMIN_KEY: first }, async ({ generatedAdminKey }, statusOf) => {
      expect(generatedAdminKey).toBeUndefined()
      expect(await statusOf('/admin/keys', first)).toBe(200)
    })
    await withDirectory({ data }, { SWITCHBOARD_ADMIN_KEY: second }, async (_directory, statusOf) => {
      expect(await statusOf('/admin/keys', second)).toBe(200)
      expect(await statusOf('/admin/keys', first)).toBe(401)
    })
  })

  it('lets flags override the environment, the environment the file, and the file the defaults', () => {
    const config = file(
      'precedence.json',
      JSON.stringify({ publicUrl: 'https://file.example', port: 1, logLevel: 'warn' }),
    )
    const env = { SWITCHBOARD_PUBLIC_URL: 'https://env.example', SWITCHBOARD_CONFIG: config, SWITCHBOARD_PORT: '2' }
    const flags = { 'public-url': 'https://flag.example/' }
    expect(readConfig({ config }, {})).toMatchObject({ publicUrl: 'https://file.example', port: 1, logLevel: 'warn' })
    expect(readConfig({}, env)).toMatchObject({ publicUrl: 'https://env.example', port: 2, logLevel: 'warn' })
    expect(readConfig(flags, env)).toMatchObject({ publicUrl: 'https://flag.example', port: 2, host: '127.0.0.1' })
  })

  it('reads further settings from the file, and gives no advice in production mode', async () => {
    const settings = { anonymous: 'none', rateLimits: { lookup: 1 }, search: { embedder: 'none' } }
    const config = file('larger.json', JSON.stringify(settings))
    const server = await start(['--data', newData(), '--config', config, '--behind-proxy'])
    expect(server.stderr()).not.toContain('switchboard demo')
    const statusWith = async (more: Record<string, string>) =>
      (await fetch(`${server.url}/agents`, { headers: { 'x-forwarded-proto': 'https', ...more } })).status
    expect(await statusWith({})).toBe(401)
    expect(await statusWith({ 'x-api-key': ADMIN_KEY })).toBe(200)
    expect(await statusWith({ 'x-api-key': ADMIN_KEY })).toBe(429)
  })

  const BAD_FLAGS: [string[], RegExp][] = [
    [['--prot', '9000'], /--prot/],
    [['--port', 'ninety'], /--port must be a number from 0 to 65535, not "ninety"/],
    [['--port', '65536'], /--port/],
    [['--port', '-1'], /--port/],
    [['--port'], /--port/],
    [['--port', '--data', 'x'], /--port/],
    [['extra'], /extra/],
    [['--database', 'mysql://x'], /--database must be a postgres:\/\/ or postgresql:\/\/ URL/],
    [['--public-url', 'ftp://x'], /--public-url/],
    [['--log-level', 'loud'], /--log-level must be one of fatal, error/],
    [['--tls-cert', 'x.pem'], /--tls-cert and --tls-key must be set together/],
    [['--tls-client-required'], /--tls-client-ca/],
    [['--mdns', '--behind-proxy'], /--mdns with --behind-proxy needs --public-url/],
    [['--tls-client-crl', 'x'], /--tls-client-crl needs --tls-client-ca/],
    [['--host', '0.0.0.0'], /plain HTTP on 0\.0\.0\.0 is not allowed/],
    [['--host', '::'], /plain HTTP on :: is not allowed/],
    [['--host', '192.0.2.1'], /plain HTTP/],
    [['--config', '/no/such/file.json'], /--config \/no\/such\/file\.json cannot be read/],
    [['--config', ROOT], /--config .* cannot be read/],
    [['--tls-cert', '/no/such', '--tls-key', '/no/such'], /--tls-cert \/no\/such cannot be read/],
  ]
  it.each(BAD_FLAGS)('rejects %j in one line, with exit code 2', async (args, reason) => {
    await expectRefusedHere(['serve', '--data', newData(), ...args], reason)
  })

  const BAD_FILES: [string, RegExp][] = [
    ['{"rateLimit":{}}', /unknown key "rateLimit"; did you mean "rateLimits"\?/],
    ['{"rateLimits":{"serach":1}}', /unknown key "rateLimits\.serach"; did you mean "rateLimits\.search"\?/],
    ['{"Port":1}', /did you mean "port"\?/],
    ['{"constructor":1}', /unknown key "constructor"/],
    ['{"policy":{"nmaes":[]}}', /did you mean "policy\.names"\?/],
    ['{"port":', /not valid JSON.*line 1, column 9/],
    ['{"port":1,"port":2}', /duplicate member/],
    ['', /not valid JSON/],
    ['[]', /must be an object/],
    ['{"port":"9000"}', /\/port must be an integer/],
    ['{"anonymous":"all"}', /\/anonymous must be one of "public", "none"/],
    ['{"rateLimits":{"search":0}}', /\/rateLimits\/search must be at least 1/],
    ['{"issuers":[{"issuer":"x"}]}', /\/issuers\/0\/audience is required/],
    ['{"issuers":[{"issuer":"x","audience":"y"}]}', /issuer "x" needs a jwksUrl/],
    [
      '{"issuers":[{"issuer":"x","audience":"y","introspection":{"url":"https://x.example","clientId":"z"}}]}',
      /needs either clientSecretFile or clientSecretVariable/,
    ],
    ['{"issuers":[{"issuer":"x","audience":"y","jwksUrl":"not a url"}]}', /\/issuers\/0\/jwksUrl/],
    ['{"lifetimes":{"max":1}}', /\/lifetimes\/max/],
    ['{"host":"0.0.0.0"}', /plain HTTP/],
    ['{"crawl":{"urls":["http://agents.example"]}}', /crawl\.urls: "http:\/\/agents\.example" must start with https/],
    ['{"crawl":{"contact":"me\\r\\nX: y"}}', /\/crawl\/contact/],
    ['{"mdns":{"name":""}}', /\/mdns\/name/],
  ]
  it.each(BAD_FILES)('rejects the config file %s in one line, with exit code 2', async (text, reason) => {
    await expectRefusedHere(['serve', '--data', newData(), '--config', file('bad.json', text)], reason)
  })

  it.each([
    [{ SWITCHBOARD_PORT: 'x' }, /--port/],
    [{ SWITCHBOARD_ADMIN_KEY: 'short' }, /SWITCHBOARD_ADMIN_KEY must have at least 16 characters/],
    [{ SWITCHBOARD_BEHIND_PROXY: 'yes' }, /--behind-proxy must be true or false/],
    [{ SWITCHBOARD_HOST: '0.0.0.0' }, /plain HTTP/],
    [{ SWITCHBOARD_MDNS: 'yes' }, /--mdns must be true or false/],
  ])('rejects the environment %j in one line, with exit code 2', async (env, reason) => {
    await expectRefusedHere(['serve', '--data', newData()], reason, { ...env })
  })

  it('rejects the same errors as a child process', async () => {
    await expectRefused(switchboard(['serve', '--prot', '9000']), /--prot/)
    const config = file('unknown-key.json', '{"rateLimit":{}}')
    await expectRefused(switchboard(['serve'], { env: { SWITCHBOARD_CONFIG: config } }), /did you mean "rateLimits"\?/)
  })

  it.each([
    ['no such folder', () => join(folder.path, 'no-model'), /manifest\.json: ENOENT/],
    ['no model', () => modelFolder('empty'), /model\.onnx/],
    ['a damaged model', () => modelFolder('damaged', 'not a model'), /damaged/],
  ])('rejects %s before it opens the store', async (_what, model, reason) => {
    const config = file('model.json', JSON.stringify({ search: { embedder: { folder: model() } } }))
    const data = newData()
    await expectRefusedHere(['serve', '--port', '0', '--data', data, '--config', config], reason)
    expect(existsSync(data)).toBe(false)
  })

  it('rejects a port in use', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address ? String(address.port) : ''
    try {
      const env = { SWITCHBOARD_ADMIN_KEY: ADMIN_KEY }
      const data = newData()
      const reason = new RegExp(`port ${port} .*EADDRINUSE.*--port`)
      await expectRefusedHere(['serve', '--data', data, '--port', port], reason, env)
      // No key was generated: the next start shows one.
      expect(existsSync(data)).toBe(false)
    } finally {
      server.close()
    }
  })

  it('rejects an unreachable database, without printing its password', async () => {
    const database = 'postgres://user:secret-password@127.0.0.1:1/x'
    const refused = await runQuietly(['serve', '--port', '0', '--database', database])
    expectRefusal(refused, /127\.0\.0\.1:1|ECONNREFUSED/)
    expect(refused.stderr).not.toContain('secret-password')
  })

  it('rejects a data folder that is a file', async () => {
    await expectRefusedHere(['serve', '--port', '0', '--data', file('not-a-folder', '')], /not-a-folder/)
  })

  it('rejects a data folder in use by another server, which keeps running', async () => {
    const data = newData()
    const first = await start(['--data', data, '--config', withoutModel()])
    await expectRefusedHere(['serve', '--port', '0', '--data', data], /another server uses the store/)
    expect(await status(first.url, '/health/ready')).toBe(200)
    await first.stop()
    await withDirectory({ data }, {}, async (_directory, statusOf) =>
      expect(await statusOf('/agents', ADMIN_KEY)).toBe(200),
    )
  })

  it('explains the commands if none or an unknown one is given', async () => {
    const none = await runQuietly([])
    expect([none.code, none.stdout.includes('switchboard serve')]).toEqual([2, true])
    await expectRefusedHere(['sevre'], /there is no command "sevre"/)
    await expectRefusedHere(['constructor'], /there is no command "constructor"/)
    await expectRefusedHere(['keys'], /switchboard keys reset-admin/)
    await expectRefusedHere(['keys', 'make'], /switchboard keys reset-admin/)
  })

  it.each([[['--help']], [['-h']], [['serve', '--help']], [['keys', '--help']], [['keys', 'reset-admin', '-h']]])(
    'explains itself with an example: %j',
    async (args) => {
      const { code, stdout, stderr } = await runQuietly(args)
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toMatch(/Examples?:\n {2}switchboard \w+/)
    },
  )
})

describe('SIGTERM', () => {
  /** Opens a connection with an incomplete request; `finish` sends the rest and resolves to the response. */
  async function beginRegistration(url: string): Promise<{ finish(): Promise<string> }> {
    const body = JSON.stringify({
      id: 'slow',
      name: 'Slow',
      description: '',
      capabilities: ['x'],
      endpoint: 'https://a.example',
      inputs: {},
      outputs: {},
    })
    const socket = await open(url)
    socket.write(
      `POST /agents HTTP/1.1\r\nhost: x\r\nx-api-key: ${ADMIN_KEY}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 20)}`,
    )
    let answer = ''
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', () => {})
    return {
      finish: () =>
        new Promise((resolve) => {
          socket.on('close', () => resolve(answer))
          socket.write(body.slice(20))
        }),
    }
  }

  async function open(url: string): Promise<Socket> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve))
    return socket
  }

  it('completes pending requests, closes idle connections and exits with 0', async () => {
    const data = newData()
    const server = await start(['--data', data, '--config', withoutModel()])
    const idle = await Promise.all([open(server.url), open(server.url), open(server.url)])
    for (const socket of idle) {
      socket.write('GET /agents HTTP/1.1\r\nhost: x\r\nconnection: keep-alive\r\n\r\n')
      await new Promise((resolve) => socket.once('data', resolve))
    }
    const slow = await beginRegistration(server.url)
    await sleep(100)
    const began = Date.now()
    server.child.kill('SIGTERM')
    await sleep(500)
    await expect(fetch(`${server.url}/agents`, { headers: { connection: 'close' } })).rejects.toThrow()
    expect(await slow.finish()).toMatch(/^HTTP\/1\.1 201 /)
    const { code, signal } = await server.ended
    expect([code, signal]).toEqual([0, null])
    expect(Date.now() - began).toBeLessThan(5000)
    // It was acknowledged, so it must be stored.
    await withDirectory({ data }, {}, async (_directory, statusOf) =>
      expect(await statusOf('/agents/slow', ADMIN_KEY)).toBe(200),
    )
  })

  it('exits with 0 within 10 s even if clients never finish', async () => {
    const server = await start(['--data', newData(), '--config', withoutModel()])
    await beginRegistration(server.url)
    await open(server.url)
    await sleep(100)
    const began = Date.now()
    const { code } = await server.stop()
    expect(code).toBe(0)
    expect(Date.now() - began).toBeLessThan(10_000)
  })

  it('to npm start reaches the server', async () => {
    const npm = keep(
      run('npm', ['start', '--', '--port', '0', '--data', newData()], { env: { SWITCHBOARD_ADMIN_KEY: ADMIN_KEY } }),
    )
    await npm.printed(/switchboard ready on/)
    const url = /ready on (\S+)/.exec(npm.stdout())?.[1] ?? ''
    expect(await status(url, '/health/ready')).toBe(200)
    npm.child.kill('SIGTERM')
    await npm.ended
    await expect(fetch(`${url}/health/live`)).rejects.toThrow()
  })
})
