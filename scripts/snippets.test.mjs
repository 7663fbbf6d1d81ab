// Compiles and runs the code in our documentation, TypeScript and shell commands, against the built packages and a
// directory that this test starts. The fixed addresses in the pages are replaced by the real ones.
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { createAgent } from '@switchboard/agent'
import { createClient } from '@switchboard/client'
import { startDemo } from '@switchboard/demo'
import { createServer } from '@switchboard/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documents, programOf, readSnippets, resultsOf } from './snippets.mjs'
import { ROOT } from './tree.mjs'

const WORK = join(ROOT, '.cache/snippets') // inside the repository, so that its packages are found
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')
const RUN_MS = 30_000

const run = promisify(execFile)
const snippets = documents().flatMap(readSnippets)
const programs = snippets.filter(({ language, action }) => language === 'ts' && action !== 'skip')
const nameOf = ({ file, line }) => `${file.replaceAll('/', '_')}_${line}`

/** Compiler messages by the name of the program. */
const messages = new Map()
let server
let agent
let demo
let folder
let environment

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'snippets-'))
  await Promise.all([compile(), startDirectory()])
}, 120_000)

afterAll(async () => {
  await demo?.close()
  await agent?.close()
  await server?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** One run of the compiler for all programs. */
async function compile() {
  rmSync(WORK, { recursive: true, force: true })
  mkdirSync(WORK, { recursive: true })
  for (const program of programs) writeFileSync(join(WORK, `${nameOf(program)}.ts`), programOf(program))
  writeFileSync(join(WORK, 'package.json'), '{"type":"module"}')
  // A server does not exit by itself, so exit after the last statement of the program.
  writeFileSync(join(WORK, 'run.mjs'), 'await import(process.argv[2]); process.exit()')
  const compilerOptions = {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'dom'],
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    outDir: 'out',
    rootDir: '.',
  }
  writeFileSync(join(WORK, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const output = await run(process.execPath, [TSC, '-p', WORK]).then(
    () => '',
    ({ stdout, stderr }) => stdout + stderr,
  )
  for (const line of output.split('\n')) {
    const [, path, place, message] = /^(\S+\.ts)\((\d+),\d+\): (.*)$/.exec(line) ?? []
    if (!path) continue
    const name = basename(path, '.ts')
    messages.set(name, [...(messages.get(name) ?? []), `line ${place}: ${message}`])
  }
  if (output !== '' && messages.size === 0) throw new Error(`the compiler failed: ${output}`)
}

/** Starts a directory with a translator, the agent that most pages use. */
async function startDirectory() {
  server = await createServer({
    port: 0,
    data: join(folder, 'directory'),
    logLevel: 'silent',
    search: { embedder: 'none' },
  })
  const url = await server.listen()
  const token = server.generatedAdminKey
  const words = { hello: { fr: 'bonjour', zh: '你好' } }
  agent = createAgent({
    name: 'translator',
    version: '1.0.0',
    description: 'Translates a text.',
    capabilities: [
      {
        name: 'translate',
        input: { text: 'string', to: 'string' },
        output: { text: 'string' },
        handler: ({ text, to }) => ({ text: words[text.toLowerCase()]?.[to] ?? text }),
      },
    ],
  })
  const { url: endpoint } = await agent.listen()
  await createClient({ baseUrl: url, token }).register({
    id: 'translator',
    name: 'Translator',
    description: 'Translates a text, such as a contract, into another language.',
    capabilities: ['translation'],
    tags: ['language'],
    endpoint: new URL('translate', endpoint).href,
    inputs: { text: 'string', to: 'string' },
    outputs: { text: 'string' },
  })
  const command = `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'packages/cli/dist/main.js')}" "$@"\n`
  writeFileSync(join(folder, 'switchboard'), command, { mode: 0o755 })
  environment = {
    PATH: `${folder}:${process.env.PATH}`,
    SWITCHBOARD_URL: url,
    SWITCHBOARD_TOKEN: token,
    URL: url,
    ADMIN: token,
    KEY: token,
  }
}

/** Runs a program in its own folder. */
async function execute(command, args) {
  const cwd = mkdtempSync(join(folder, 'run-'))
  const env = { ...environment, HOME: cwd, XDG_RUNTIME_DIR: cwd }
  writeFileSync(join(cwd, '.curlrc'), 'fail\nshow-error\n') // a failed request fails the script
  return (await run(command, args, { cwd, env, timeout: RUN_MS })).stdout
}

async function withRealAddresses(code) {
  const ports = [...new Set(code.match(/\b(8080|8041|9000|9001)\b/g))]
  let real = code
    .replaceAll(/https:\/\/directory\.example(?![\w.])|http:\/\/127\.0\.0\.1:8040/g, environment.URL)
    .replaceAll('sb_…', environment.KEY)
  for (const port of ports) real = real.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), String(await freePort()))
  return real
}

const freePort = () =>
  new Promise((resolve) => {
    const probe = createTcpServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })

describe.each(programs)('the program at $file:$line', (program) => {
  it('compiles', () => {
    expect(messages.get(nameOf(program)) ?? []).toEqual([])
  })

  if (program.action !== 'run') return
  it('runs and prints what the page says', { timeout: RUN_MS + 5000 }, async () => {
    const path = join(WORK, 'out', `${nameOf(program)}.js`)
    writeFileSync(path, await withRealAddresses(readFileSync(path, 'utf8')))
    expectInOrder(await execute(process.execPath, [join(WORK, 'run.mjs'), path]), resultsOf(program))
  })
})

describe('shell commands', () => {
  // Pages call some of its agents. Not earlier: a program above starts and removes them too.
  beforeAll(async () => {
    demo = await startDemo({ baseUrl: environment.URL, token: environment.KEY })
  })

  const commands = snippets.filter(({ language }) => language === 'sh')
  it('run, or the page says why not', () => {
    // `npm run check:readme` runs those of the README.
    const unmarked = commands.filter(({ file, mark }) => mark === '' && file !== 'README.md')
    expect(unmarked.map(({ file, line }) => `${file}:${line}: write "sh run" or "sh no-run: reason"`)).toEqual([])
  })

  it.each(commands)('at $file:$line are valid', async ({ code }) => {
    await run('bash', ['-n', '-c', code])
  })

  it.each(commands.filter(({ action }) => action === 'run'))(
    'at $file:$line run',
    { timeout: RUN_MS + 5000 },
    async ({ code }) => {
      const stopAgents = "trap 'jobs -p | xargs -r kill' EXIT"
      await execute('bash', ['-e', '-c', `${stopAgents}\n${await withRealAddresses(code)}`])
    },
  )
})

describe('JSON', () => {
  it.each(snippets.filter(({ language }) => language === 'json'))('at $file:$line is valid', ({ code }) => {
    expect(() => JSON.parse(code)).not.toThrow()
  })
})

function expectInOrder(text, results) {
  let rest = text
  for (const result of results) {
    expect(rest).toContain(result)
    rest = rest.slice(rest.indexOf(result) + result.length)
  }
}
