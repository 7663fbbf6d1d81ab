// Proves that the linter enforces the import rules: it must report a wrong import and accept a right one. A rule whose
// pattern matches nothing, or a scan that reads no files, would look like a clean tree. The samples are in a temporary
// folder with a copy of the settings, so that nothing is written into the packages.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { below, packageFolders, ROOT } from './tree.mjs'

const BIOME = join(ROOT, 'node_modules/@biomejs/biome/bin/biome')
const RULES = /^lint\/\w+\/(noRestrictedImports|noProcessEnv|noUndeclaredDependencies)$/

/** Folder or file below packages/ → lines that the linter must report there, and lines that it must accept. */
const SAMPLES = {
  'agent-uri/src/': {
    wrong: ["import '@switchboard/protocol'", "import 'node:url'", "import 'semver'"],
    right: ["import './parse.js'", "import '../syntax/host.js'"],
  },
  'protocol/src/': {
    wrong: ["import '@switchboard/agent-uri'", "import '@switchboard/search'", "import 'node:fs'", "import 'fs'"],
    right: ["import 'ajv'", "import './record.js'", "import '../json.js'"],
  },
  'search/src/': {
    wrong: [
      "import '@switchboard/server'",
      "import '@switchboard/protocol/dist/index.js'",
      "import 'node:http'",
      "import 'http'",
      "import 'fastify'",
      "import 'pg'",
      "import 'libsql'",
      'export const home = process.env.HOME',
    ],
    right: ["import '@switchboard/protocol'", "import '@switchboard/protocol/json'", "import './words.js'"],
  },
  'client/src/': {
    wrong: [
      "import 'node:net'",
      "import { env } from 'node:process'",
      "import 'ws'",
      "import '@switchboard/server'",
      "import '@switchboard/search'",
      "import '@switchboard/protocol/dist/index.js'",
      'export const home = process.env.HOME',
    ],
    right: [
      "import '@switchboard/agent-uri'",
      "import '@switchboard/protocol'",
      "import '@switchboard/protocol/documents'",
      "import './errors.js'",
      "await import('./socket.node.js')",
    ],
  },
  'client/src/socket.node.ts': {
    wrong: ["import '@switchboard/server'", "import 'pg'"],
    right: [
      "import 'node:net'",
      "import 'ws'",
      "import '@switchboard/protocol'",
      'export const home = process.env.HOME',
    ],
  },
  'agent/src/': {
    wrong: [
      "import '@switchboard/server'",
      "import '@switchboard/search'",
      "import 'pg'",
      "import { env } from 'node:process'",
    ],
    right: ["import '@switchboard/client'", "import '@switchboard/protocol'", "import 'node:http'", "import 'ws'"],
  },
  'server/src/faces/aidip/': {
    wrong: [
      "import type { Store } from '../../store/store.js'",
      "import type { StoredAgent } from '../../store/store.js'",
      "import { rows } from '../../store/rows.js'",
      "import '../../store/sqlite/open.js'",
      "export * from '../../gateway/dispatch.js'",
      "await import('../../federation/peers.js')",
      "import { createAgentIndex } from '@switchboard/search'",
      "import '../../app.js'",
      "import '../../wiring/http.js'",
      'export const home = process.env.HOME',
      "import { env } from 'node:process'",
    ],
    right: [
      "import '../../services/register.js'",
      "import '../../policy/access.js'",
      "import '../errors.js'",
      "import './views.js'",
      "import '@switchboard/protocol'",
      "import type { Condition } from '@switchboard/search'",
      "import type { AuditEntry, StoredKey } from '../../store/store.js'",
      "import { StoreError } from '../../store/store-error.js'",
      "import 'fastify'",
    ],
  },
  'server/src/services/': {
    wrong: [
      "import '../faces/aidip/routes.js'",
      "import '../store/sqlite/open.js'",
      "import '../store/postgres/open.js'",
      "import '../store/rows.js'",
      "import 'pg'",
      "import 'fastify'",
      "import '../app.js'",
      "import '../wiring/base.js'",
      "import 'prom-client'",
      "import '@opentelemetry/api'",
      "import '../telemetry/create-metrics.js'",
    ],
    right: [
      "import type { Metrics } from '../telemetry/metrics.js'",
      "import type { Store } from '../store/store.js'",
      "import type { StoredTask } from '../store/task-store.js'",
      "import { StoreError } from '../store/store-error.js'",
      "import '../policy/access.js'",
      "import '../gateway/dispatch.js'",
      "import '@switchboard/search'",
      "import '@switchboard/protocol'",
      "import '@switchboard/protocol/call'",
    ],
  },
  'server/src/policy/': {
    wrong: [
      "import 'node:crypto'",
      "import '../store/sqlite/open.js'",
      "import '../services/register.js'",
      "import '../faces/errors.js'",
      "import '../config/settings.js'",
      "import '@switchboard/search'",
    ],
    right: [
      "import type { Store } from '../store/store.js'",
      "import './freshness.js'",
      "import '@switchboard/protocol'",
      "import '@switchboard/protocol/json'",
    ],
  },
  'server/src/store/sqlite/': {
    wrong: [
      "import '../../faces/errors.js'",
      "import '../../services/register.js'",
      "import '../../policy/freshness.js'",
      "import '../../gateway/dispatch.js'",
      "import { createAgentIndex } from '@switchboard/search'",
    ],
    right: [
      "import '../store.js'",
      "import 'libsql'",
      "import 'node:fs'",
      "import '@switchboard/protocol'",
      "import type { TextTables } from '@switchboard/search'",
    ],
  },
  'server/src/gateway/': {
    wrong: [
      "import '../store/store.js'",
      "import '../services/invoke.js'",
      "import '../faces/errors.js'",
      "import '@switchboard/search'",
      "import 'prom-client'",
    ],
    right: [
      "import './guard.js'",
      "import 'node:dns'",
      "import '@switchboard/protocol'",
      "import type { Metrics } from '../telemetry/metrics.js'",
    ],
  },
  'server/src/telemetry/': {
    wrong: ["import '../store/store.js'", "import '../services/context.js'", "import '@switchboard/protocol'"],
    right: ["import './metrics.js'", "import 'prom-client'"],
  },
  'server/src/federation/': {
    wrong: ["import '../faces/errors.js'", "import '../store/postgres/open.js'"],
    right: ["import '../gateway/dispatch.js'"],
  },
  'server/src/wiring/': {
    wrong: [
      'export const home = process.env.HOME',
      "import '@switchboard/cli'",
      "import '@switchboard/protocol/dist/json.js'",
    ],
    right: ["import '../store/sqlite/open.js'", "import '../faces/aidip/routes.js'", "import '@switchboard/search'"],
  },
  'server/src/app.ts': {
    wrong: [
      'export const home = process.env.HOME',
      "import '@switchboard/cli'",
      "import '@switchboard/protocol/dist/json.js'",
    ],
    right: ["import './store/sqlite/open.js'", "import './faces/aidip/routes.js'", "import '@switchboard/search'"],
  },
  'server/src/config/read-config.ts': { wrong: [], right: ['export const home = process.env.HOME'] },
  'mcp/src/': {
    wrong: [
      "import '@switchboard/server'",
      "import '@switchboard/client/dist/index.js'",
      "import 'fastify'",
      "import { env } from 'node:process'",
      'export const home = process.env.HOME',
    ],
    right: ["import '@switchboard/client'", "import '@switchboard/protocol'", "import './fence.js'"],
  },
  'console/src/': {
    wrong: [
      "import '@switchboard/server'",
      "import '@switchboard/search'",
      "import '@switchboard/client/dist/index.js'",
      "import 'node:fs'",
      "import 'fastify'",
      'export const home = process.env.HOME',
    ],
    right: ["import '@switchboard/client/discovery'", "import '@switchboard/protocol/json'", "import './api.js'"],
  },
  'demo/src/': {
    wrong: [
      "import '@switchboard/server'",
      "import '@switchboard/agent/dist/index.js'",
      "import 'fastify'",
      "import { env } from 'node:process'",
      'export const home = process.env.HOME',
    ],
    right: [
      "import '@switchboard/agent'",
      "import '@switchboard/client'",
      "import '@switchboard/protocol'",
      "import '@a2a-js/sdk'",
      "import 'node:http'",
    ],
  },
  'local/src/': {
    wrong: [
      "import '@switchboard/client'",
      "import '@switchboard/server'",
      "import '@switchboard/protocol/dist/index.js'",
      "import 'fastify'",
      "import { env } from 'node:process'",
      'export const home = process.env.HOME',
    ],
    right: ["import '@switchboard/protocol'", "import 'node:http'", "import './local-error.js'"],
  },
  'cli/src/': {
    wrong: [
      "import '@switchboard/server/dist/app.js'",
      "import '../../server/src/app.js'",
      "import '../../../local/dist/index.js'",
      "import '@switchboard/search'",
      "import '@switchboard/agent'",
      "import { env } from 'node:process'",
      'export const home = process.env.HOME',
    ],
    right: [
      "import '@switchboard/server'",
      "import '@switchboard/client'",
      "import '@switchboard/client/search'",
      "import '@switchboard/local'",
      "import '@switchboard/demo'",
      "import '@switchboard/protocol'",
      "import 'node:util'",
    ],
  },
  'cli/src/settings.ts': {
    wrong: ["import '@switchboard/search'"],
    right: ['export const home = process.env.HOME', "import '@switchboard/client'"],
  },
}

function lint(cwd, paths) {
  // Not --only: that would turn a rule on where the settings turn it off.
  const args = [BIOME, 'lint', '--reporter=json', '--max-diagnostics=none', ...paths]
  const run = spawnSync(process.execPath, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 })
  try {
    return JSON.parse(run.stdout)
  } catch {
    throw new Error(`biome wrote no report: ${run.stderr || run.error}`)
  }
}

/** One file for each sample; a sample for a particular file (read-config.ts) gets a separate tree. */
function* files() {
  for (const [place, { wrong, right }] of Object.entries(SAMPLES)) {
    for (const [n, line] of [...wrong, ...right].entries()) {
      const [tree, name] = place.endsWith('/') ? ['shared', `${place}sample-${n}.ts`] : [`own-${n}`, place]
      yield { place, line, wrong: n < wrong.length, tree, path: `packages/${name}` }
    }
  }
}

function checkSamples(folder) {
  const samples = [...files()]
  for (const tree of new Set(samples.map((sample) => sample.tree))) {
    for (const name of ['biome.json', '.gitignore']) cpSync(join(ROOT, name), join(folder, tree, name))
    for (const path of packageFolders().map((from) => join(from, 'package.json'))) {
      cpSync(path, join(folder, tree, relative(ROOT, path)))
    }
    const own = samples.filter((sample) => sample.tree === tree)
    for (const { path, line } of own) {
      mkdirSync(dirname(join(folder, tree, path)), { recursive: true })
      writeFileSync(join(folder, tree, path), `${line}\n`)
    }
    const found = lint(join(folder, tree), ['packages']).diagnostics.filter(({ category }) => RULES.test(category))
    const reported = new Set(found.map(({ location }) => location?.path))
    for (const sample of own) sample.reported = reported.has(sample.path)
  }
  return samples.filter((sample) => sample.wrong !== sample.reported)
}

/** Number of sources, and how many of them the linter read: fewer if a pattern ignores some. */
function sources() {
  const folders = packageFolders().map((folder) => join(folder, 'src'))
  const expected = folders.flatMap((folder) => [...below(folder)]).filter(({ path }) => /\.tsx?$/.test(path)).length
  const { changed, unchanged } = lint(ROOT, folders).summary
  return { expected, read: changed + unchanged }
}

const folder = mkdtempSync(join(tmpdir(), 'switchboard-rooms-'))
try {
  const missed = checkSamples(folder)
  for (const { place, line, wrong } of missed) {
    console.error(`rooms: in packages/${place} biome ${wrong ? 'accepts' : 'reports'}: ${line}`)
  }
  const { expected, read } = sources()
  if (read < expected) console.error(`rooms: biome read ${read} of ${expected} sources`)
  if (missed.length > 0 || read < expected) process.exitCode = 1
  else console.log(`rooms: ${[...files()].length} samples checked, ${read} sources read`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
