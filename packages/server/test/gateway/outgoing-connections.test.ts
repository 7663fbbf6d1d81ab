import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url))

/** Modules that can open connections, and the exports that do; other exports only serve or are types. */
const OPENERS: Record<string, readonly string[] | 'all'> = {
  net: 'all',
  tls: 'all',
  http: ['request', 'get', 'Agent', 'ClientRequest', 'globalAgent', 'default', '*'],
  https: ['request', 'get', 'Agent', 'globalAgent', 'default', '*'],
  http2: ['connect', 'default', '*'],
  dgram: 'all',
  dns: 'all',
  'dns/promises': 'all',
  child_process: 'all',
  cluster: 'all',
  undici: 'all',
  ws: ['WebSocket', 'createWebSocketStream', 'default', '*'],
  pg: 'all',
  libsql: 'all',
  eventsource: 'all',
  '@opentelemetry/exporter-trace-otlp-http': 'all',
  jose: ['createRemoteJWKSet', 'default', '*'],
  // Fetches the keys of the issuers that the operator trusts.
  '@switchboard/protocol': ['createTokenVerifier', '*'],
  '@a2a-js/sdk/client': 'all',
  '@modelcontextprotocol/client': 'all',
  '@modelcontextprotocol/sdk/client/index.js': 'all',
  '@modelcontextprotocol/sdk/client/streamableHttp.js': 'all',
  '@modelcontextprotocol/sdk/client/sse.js': 'all',
}

/** Files that may use them, and why. Everything else goes through the gateway. */
const ALLOWED: Record<string, readonly string[]> = {
  // The address guard, and connections opened through it.
  'gateway/connection/resolve-name.ts': ['dns/promises'],
  'gateway/connection/dial.ts': ['net', 'tls', 'undici'],
  'gateway/connection/unix-sockets.ts': ['net', 'undici'],
  'gateway/transports/websocket/open-websocket.ts': ['ws'],
  // Addresses configured by the operator (CONTRACT).
  'services/identity/tokens.ts': ['@switchboard/protocol'],
  // The issuer's own addresses; what its document names elsewhere goes through the guard.
  'services/identity/openid-sign-in.ts': ['@switchboard/protocol'],
  'services/identity/introspection.ts': ['global'],
  'services/calls/admission/agent-tokens.ts': ['global'],
  'services/discovery/remote-embedder.ts': ['global'],
  'store/postgres/connect.ts': ['pg'],
  'store/postgres/supervise.ts': ['pg'],
  'telemetry/create-traces.ts': ['@opentelemetry/exporter-trace-otlp-http'],
  // Only files and certificates.
  'store/sqlite/database.ts': ['libsql'],
  'store/sqlite/lock-folder.ts': ['libsql'],
  'config/read-files.ts': ['tls'],
  // Finds and binds the addresses of the server itself.
  'wiring/listen.ts': ['dns/promises', 'net'],
}

interface Use {
  readonly opener: string
  readonly line: string
}

/** The names that a statement imports as values; types are erased. */
function importedNames(clause: string): string[] {
  if (/^\s*type\s/.test(clause)) return []
  const braces = /\{([^}]*)\}/s.exec(clause)?.[1] ?? ''
  const named = braces.split(',').flatMap((part) => {
    const name = part.trim().split(/\s+as\s+/)[0] ?? ''
    return name === '' || name.startsWith('type ') ? [] : [name]
  })
  const rest = clause
    .replace(/\{[^}]*\}/s, '')
    .replaceAll(',', ' ')
    .trim()
  return [...named, ...(rest === '' ? [] : [rest.startsWith('*') ? '*' : 'default'])]
}

/** The places where a source could open a connection. */
function findOpeners(source: string): Use[] {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '')
  const uses: Use[] = []
  const note = (module: string, names: string[], line: string): void => {
    const opener = module.replace(/^node:/, '')
    const openers = Object.hasOwn(OPENERS, opener) ? OPENERS[opener] : undefined
    if (openers && names.some((name) => openers === 'all' || openers.includes(name))) uses.push({ opener, line })
  }
  for (const [line, clause = '', module = ''] of code.matchAll(
    /^(?:import|export)\s([^'"]*?)\sfrom\s+['"]([^'"]+)['"]/gm,
  )) {
    note(module, importedNames(clause), line)
  }
  for (const [line, module = ''] of code.matchAll(/^import\s+['"]([^'"]+)['"]/gm)) note(module, ['*'], line)
  for (const [line, module = ''] of code.matchAll(
    /(?:\bimport|\brequire|getBuiltinModule)\s*\(\s*['"`]([^'"`]+)['"`]/g,
  )) {
    note(module, ['*'], line)
  }
  // Globals need no import. A `fetch` that is injected is declared in the file.
  const isInjected = /[{,(]\s*fetch\s*[,:})=]|\b(const|let)\s+fetch\b/.test(code)
  const global = /\bglobal(This)?\s*(\.|\[\s*['"])\s*(fetch|WebSocket|EventSource)\b/g
  for (const [line] of code.replace(/typeof\s+globalThis\.fetch/g, '').matchAll(global))
    uses.push({ opener: 'global', line })
  for (const [line] of code.matchAll(/\bnew\s+(WebSocket|EventSource|XMLHttpRequest)\b/g)) {
    if (!/from 'ws'/.test(code)) uses.push({ opener: 'global', line })
  }
  for (const [line] of code.matchAll(/(?<![.\w])fetch\s*\(/g)) if (!isInjected) uses.push({ opener: 'global', line })
  for (const [line] of code.matchAll(/(=|\?\?|\|\|)\s*fetch\b(?!\s*[:(])/g)) uses.push({ opener: 'global', line })
  return uses
}

const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.endsWith('.test.ts'),
)
const nameOf = (path: string): string => path.split(sep).join('/')

describe('outgoing connections', () => {
  it('are opened only by the gateway, and to addresses configured by the operator', () => {
    expect(sources.length).toBeGreaterThan(100)
    const found = sources.flatMap((path) =>
      findOpeners(readFileSync(join(SOURCES, path), 'utf8')).map(({ opener }) => `${nameOf(path)}: ${opener}`),
    )
    const allowed = Object.entries(ALLOWED).flatMap(([path, openers]) => openers.map((opener) => `${path}: ${opener}`))
    // Equal, so that unused permissions are found too.
    expect([...new Set(found)].sort()).toEqual(allowed.sort())
  })

  it.each([
    "import { connect } from 'node:net'",
    "import net from 'net'",
    "import { request } from 'node:https'",
    "import * as http from 'node:http'",
    "import { createServer, request } from 'node:http'",
    "import {\n  Agent,\n} from 'undici'",
    "import { fetch } from 'undici'",
    "export { request } from 'undici'",
    "import { WebSocket } from 'ws'",
    "import WebSocket from 'ws'",
    "import { createRemoteJWKSet } from 'jose'",
    "import { lookup } from 'node:dns/promises'",
    "import { execFile } from 'node:child_process'",
    "import { Client } from 'pg'",
    "const net = await import('node:net')",
    "const net = require('net')",
    "const net = process.getBuiltinModule('node:net')",
    'await fetch(url)',
    'const answer = await globalThis.fetch(url)',
    "const get = globalThis['fetch']",
    'const create = ({ fetch: send = fetch }) => send(url)',
    'const send = options.fetch ?? fetch',
    'new WebSocket(url)',
    'new EventSource(url)',
  ])('are found in: %s', (source) => {
    expect(findOpeners(`// a file\n${source}\n`)).not.toEqual([])
  })

  it.each([
    "import type { Socket } from 'node:net'",
    "import { type IncomingMessage, createServer } from 'node:http'",
    "import { createServer } from 'node:https'",
    "import { WebSocketServer } from 'ws'",
    "import { jwtVerify } from 'jose'",
    'const { fetch } = deps\nawait fetch(url)',
    'await deps.fetch(url)',
    'type Fetch = typeof globalThis.fetch',
    'const send = (url: string) => fetch(url)\nconst make = ({ fetch }: Deps) => send',
    '// await fetch(url)',
  ])('are not found in: %s', (source) => {
    expect(findOpeners(source)).toEqual([])
  })
})
