import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import {
  compileSchema,
  isLoopbackHost,
  isObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  type Strictness,
} from '@switchboard/protocol'
import { configSchema, nearestKey } from './config-schema.js'
import type { NamePolicy } from './policy/access.js'
import type { Quota } from './policy/quota.js'
import type { LimitedAction } from './policy/rate-limit.js'
import type { TaxonomyConfig } from './policy/taxonomy.js'
import type { VettingPolicy } from './policy/vetting.js'
import { type Issuer, issuersProblem } from './services/identity/issuers.js'

/** All settings of a directory. */
export interface Config {
  host: string
  port: number
  data: string
  database: string | undefined
  /** Base of the absolute URLs that the directory hands out. Default: the address it listens on. */
  publicUrl: string | undefined
  tls: TlsConfig | undefined
  behindProxy: boolean
  adminKey: string | undefined
  /** Encrypts other secrets in the store. Default: a key file in the data folder; none with PostgreSQL. */
  secret: string | undefined
  logLevel: string
  rateLimits: Record<LimitedAction, number>
  /** How much each owner may register; administrators may exceed it. */
  quotas: Quota
  /** Open connections, in total and per address (not behind a proxy), and how long a client may not read its response. */
  connections: { max: number; maxPerAddress: number; stallTimeoutMs: number }
  gateway: {
    enabled: boolean
    timeoutMs: number
    sign: boolean
    /** Maximum size of an input in bytes; larger content must be passed by URL. */
    maxInputBytes: number
    /** Maximum number of JSON values in an input, and in a response or part of a stream. */
    maxInputValues: number
    maxResponseValues: number
    /** Concurrent calls including streams, in total and per agent; further calls wait, then get status 503. */
    maxCalls: number
    maxCallsPerAgent: number
    /** Concurrent calls of one caller; further ones get status 429. Default: see `maxCallsPerCallerOf`. */
    maxCallsPerCaller?: number
    /** Bytes of responses stored in a day for the Idempotency-Keys of one caller; further ones cannot be replayed. */
    maxStoredBytesPerCaller: number
    /** Non-public addresses that may be called: ranges, host names, origins. */
    allow: string[]
    /** Folders whose Unix sockets may be called (C-81). */
    socketFolders: string[]
  }
  search: {
    semantic: boolean
    /** Whether outcomes of calls and ratings influence the ranking. */
    learn: boolean
    embedder: EmbedderConfig
    taxonomies: TaxonomyConfig[]
    /** How many candidates from each of word and vector search are ranked (PROF §7.2). */
    rerankLimit: number
    /** Milliseconds that a query waits for its embeddings; then it is searched by words only. */
    embedTimeoutMs: number
  }
  /** Intent resolution (AIDIP §6), which is optional (AIDIP §8). */
  resolution: { enabled: boolean }
  anonymous: 'public' | 'none'
  lifetimes: { max: number }
  issuers: Issuer[]
  certificates: { scopes: string[] }
  cors: { origins: string[] }
  policy: Policy
  audit: { retentionDays: number; addresses: boolean }
  /** Regular checks whether agents can be reached. Off by default: they connect to every address that is registered. */
  liveness: { enabled: boolean; intervalSeconds: number }
  /** Regular trials of agents with their own examples, if their publishers agree. Off by default: every one is a call. */
  probes: { enabled: boolean; intervalSeconds: number }
}

/** The embedding model: the built-in one, none, a folder with an ONNX model, or an HTTP endpoint. */
export type EmbedderConfig =
  | 'builtin'
  | 'none'
  | { folder: string; languages?: string[] }
  | { url: string; model: string; key?: string; dimensions?: number; languages?: string[] }

export interface Policy extends NamePolicy, VettingPolicy {
  readonly strictness: Strictness
  /** Reject documents whose examples do not match their schema. Default: warn only. */
  readonly strictExamples: boolean
  /** Reject responses of agents that do not match their schema. Default: mark them only (C-67). */
  readonly strictOutputs: boolean
  /** Reject documents with a signature that is not valid. Default: warn, and show it. */
  readonly strictSignatures: boolean
  /** Reject new agents whose id names a domain that their owner has not proven to control. */
  readonly requireDomainProof: boolean
}

export interface TlsConfig {
  cert: string
  key: string
  clientCa?: string
  /** Path of the lists of revoked client certificates (PEM), one for each CA; read again when the file changes. */
  clientCrl?: string
  clientRequired: boolean
}

/** An invalid setting. The CLI prints the message in one line and exits with code 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Schemes that endpoints may have by default. Schemes local to a machine (file, unix) must be allowed explicitly. */
const SCHEMES = [
  'https',
  'wss',
  'agent',
  'agent+*',
  'grpc',
  'grpcs',
  'coap',
  'coaps',
  'coap+*',
  'mqtt',
  'mqtts',
  'amqps',
  'nats',
  'matrix',
  'did',
  'urn',
  'pkg',
  'a2a',
  'mcp',
  'agtp',
]

export const DEFAULTS: Config = {
  host: '127.0.0.1',
  port: 8040,
  data: './switchboard-data',
  database: undefined,
  publicUrl: undefined,
  tls: undefined,
  behindProxy: false,
  adminKey: undefined,
  secret: undefined,
  logLevel: 'info',
  rateLimits: { search: 600, register: 120, lookup: 1200, invoke: 600 },
  quotas: { agents: 50_000, bytes: 256 * 1024 * 1024 },
  connections: { max: 10_000, maxPerAddress: 1024, stallTimeoutMs: 60_000 },
  gateway: {
    enabled: true,
    timeoutMs: 30_000,
    sign: false,
    maxInputBytes: 8 * 1024 * 1024,
    maxInputValues: 100_000,
    maxResponseValues: 100_000,
    maxCalls: 2048,
    maxCallsPerAgent: 256,
    maxStoredBytesPerCaller: 64 * 1024 * 1024,
    allow: [],
    socketFolders: [],
  },
  search: { semantic: true, learn: true, embedder: 'builtin', taxonomies: [], rerankLimit: 100, embedTimeoutMs: 300 },
  resolution: { enabled: true },
  anonymous: 'public',
  lifetimes: { max: 604_800 },
  issuers: [],
  certificates: { scopes: ['publish', 'discover', 'invoke'] },
  cors: { origins: [] },
  policy: {
    names: [],
    owners: [],
    capabilities: [],
    schemes: SCHEMES,
    strictness: {},
    strictExamples: false,
    strictOutputs: false,
    strictSignatures: false,
    requireDomainProof: false,
  },
  audit: { retentionDays: 30, addresses: true },
  liveness: { enabled: false, intervalSeconds: 3600 },
  probes: { enabled: false, intervalSeconds: 86_400 },
}

/** Groups of settings that may be given in part. */
const GROUPS = [
  'rateLimits',
  'quotas',
  'connections',
  'gateway',
  'search',
  'resolution',
  'lifetimes',
  'certificates',
  'cors',
  'liveness',
  'probes',
  'audit',
] as const

/** Settings of an embedded server; all have defaults. */
export type Settings = Partial<Omit<Config, (typeof GROUPS)[number]>> & {
  [Group in (typeof GROUPS)[number]]?: Partial<Config[Group]>
}

/** Merges settings into the defaults, group by group. */
export const withDefaults = (settings: Settings): Config => ({
  ...DEFAULTS,
  ...settings,
  rateLimits: { ...DEFAULTS.rateLimits, ...settings.rateLimits },
  quotas: { ...DEFAULTS.quotas, ...settings.quotas },
  connections: { ...DEFAULTS.connections, ...settings.connections },
  gateway: { ...DEFAULTS.gateway, ...settings.gateway },
  search: { ...DEFAULTS.search, ...settings.search },
  resolution: { ...DEFAULTS.resolution, ...settings.resolution },
  lifetimes: { ...DEFAULTS.lifetimes, ...settings.lifetimes },
  certificates: { ...DEFAULTS.certificates, ...settings.certificates },
  cors: { ...DEFAULTS.cors, ...settings.cors },
  liveness: { ...DEFAULTS.liveness, ...settings.liveness },
  probes: { ...DEFAULTS.probes, ...settings.probes },
  audit: { ...DEFAULTS.audit, ...settings.audit },
})

/** Flags of `switchboard serve`, before they are parsed. */
export interface Flags {
  host?: string
  port?: string
  data?: string
  database?: string
  'public-url'?: string
  'tls-cert'?: string
  'tls-key'?: string
  'tls-client-ca'?: string
  'tls-client-crl'?: string
  'tls-client-required'?: boolean
  'behind-proxy'?: boolean
  config?: string
  'log-level'?: string
}

/** Reads settings from flags, environment, config file and defaults, in this order of precedence. */
export function readConfig(flags: Flags = {}, env: NodeJS.ProcessEnv = process.env): Config {
  const file = flags.config ?? env.SWITCHBOARD_CONFIG
  const settings = file === undefined ? {} : readFile(file)
  const text = (flag: keyof Flags, variable: string, key: string): string | undefined => {
    const value = flags[flag] ?? env[variable] ?? settings[key]
    return value === undefined ? undefined : String(value)
  }
  const larger = fileSettings(settings, env)
  const config: Config = {
    ...DEFAULTS,
    ...larger,
    host: text('host', 'SWITCHBOARD_HOST', 'host') ?? DEFAULTS.host,
    port: readPort(text('port', 'SWITCHBOARD_PORT', 'port')),
    data: text('data', 'SWITCHBOARD_DATA', 'data') ?? DEFAULTS.data,
    database: readDatabase(text('database', 'SWITCHBOARD_DATABASE_URL', 'database')),
    publicUrl: readPublicUrl(text('public-url', 'SWITCHBOARD_PUBLIC_URL', 'publicUrl')),
    behindProxy: readFlag('--behind-proxy', text('behind-proxy', 'SWITCHBOARD_BEHIND_PROXY', 'behindProxy')),
    adminKey: readSecret('SWITCHBOARD_ADMIN_KEY', env.SWITCHBOARD_ADMIN_KEY),
    secret: readSecret('SWITCHBOARD_SECRET', env.SWITCHBOARD_SECRET),
    search: withEmbedderKey(larger.search ?? DEFAULTS.search, env.SWITCHBOARD_EMBEDDER_KEY),
    logLevel: readLogLevel(text('log-level', 'SWITCHBOARD_LOG_LEVEL', 'logLevel')),
    tls: readTls(
      text('tls-cert', 'SWITCHBOARD_TLS_CERT', 'tlsCert'),
      text('tls-key', 'SWITCHBOARD_TLS_KEY', 'tlsKey'),
      text('tls-client-ca', 'SWITCHBOARD_TLS_CLIENT_CA', 'tlsClientCa'),
      text('tls-client-crl', 'SWITCHBOARD_TLS_CLIENT_CRL', 'tlsClientCrl'),
      readFlag(
        '--tls-client-required',
        text('tls-client-required', 'SWITCHBOARD_TLS_CLIENT_REQUIRED', 'tlsClientRequired'),
      ),
    ),
  }
  assertSafe(config)
  return config
}

/** Refuses plain HTTP beyond this machine (C-72), and replicas that would each sign with their own key. */
export function assertSafe({ host, tls, behindProxy, database, secret, gateway, issuers }: Config): void {
  const problem = issuersProblem(issuers)
  if (problem !== undefined) throw new ConfigError(`issuers: ${problem}`)
  if (gateway.sign && database !== undefined && secret === undefined)
    throw new ConfigError(
      'gateway.sign with a database needs SWITCHBOARD_SECRET: set it to the same value on all replicas',
    )
  if (tls || behindProxy || isLoopbackHost(host)) return
  throw new ConfigError(
    `plain HTTP on ${host} is not allowed: set --tls-cert and --tls-key, or --behind-proxy if a proxy terminates TLS`,
  )
}

/** Fewest calls of one caller by default, however low the other limits are. */
const MIN_CALLS_PER_CALLER = 8

/** Most concurrent calls of one caller. By default, one caller takes at most half of the slots of an agent. */
export const maxCallsPerCallerOf = ({ maxCalls, maxCallsPerAgent, maxCallsPerCaller }: Config['gateway']): number =>
  maxCallsPerCaller ?? Math.max(MIN_CALLS_PER_CALLER, Math.floor(Math.min(maxCalls, maxCallsPerAgent) / 2))

/** TLS, or a proxy that terminates it, means production, even on loopback (C-72). */
export const isProduction = ({ tls, behindProxy }: Pick<Config, 'tls' | 'behindProxy'>): boolean =>
  tls !== undefined || behindProxy

const checkSettings = compileSchema(configSchema)

function readFile(path: string): JsonObject {
  let settings: JsonValue
  try {
    settings = parseJson(readText(path, '--config'))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`the config file ${path} cannot be parsed: ${error instanceof Error ? error.message : error}`)
  }
  const unknown = nearestKey(settings)
  if (unknown)
    throw new ConfigError(
      `the config file ${path} has an unknown key "${unknown.key}"; did you mean "${unknown.nearest}"?`,
    )
  const [issue] = checkSettings(settings)
  if (issue) throw new ConfigError(`the config file ${path}: ${issue.at || 'the document'} ${issue.message}`)
  return isObject(settings) ? settings : {}
}

/** Settings that only the config file has, merged into their defaults. The schema has checked their types. */
function fileSettings(settings: JsonObject, env: NodeJS.ProcessEnv): Partial<Config> {
  const merged = GROUPS.map((name) => [name, { ...DEFAULTS[name], ...(isObject(settings[name]) && settings[name]) }])
  const { strict01, lenientCapabilities, refuseUnknownMembers, ...policy } = isObject(settings.policy)
    ? settings.policy
    : {}
  const strictness = { strict01, lenientCapabilities, refuseUnknownMembers }
  return {
    ...Object.fromEntries(merged),
    policy: { ...DEFAULTS.policy, ...policy, strictness },
    ...(settings.anonymous !== undefined && { anonymous: settings.anonymous === 'none' ? 'none' : 'public' }),
    ...(Array.isArray(settings.issuers) && { issuers: settings.issuers.map(withClientSecret(env)) }),
  } as Partial<Config>
}

/** The credentials for introspection come from a file or the environment, so that the config contains no secret. */
const withClientSecret =
  (env: NodeJS.ProcessEnv) =>
  (issuer: JsonValue): JsonValue => {
    if (!isObject(issuer) || !isObject(issuer.introspection)) return issuer
    const { clientSecretFile: file, clientSecretVariable: variable, ...introspection } = issuer.introspection
    if ((typeof file === 'string') === (typeof variable === 'string'))
      throw new ConfigError('issuers: an introspection needs either clientSecretFile or clientSecretVariable')
    const secret = typeof file === 'string' ? readText(file, 'clientSecretFile').trim() : env[String(variable)]
    if (!secret) throw new ConfigError(`issuers: the client secret in ${String(file ?? variable)} is missing or empty`)
    return { ...issuer, introspection: { ...introspection, clientSecret: secret } }
  }

/** The key of the embedding endpoint may come from the environment, so that no file contains a secret. */
function withEmbedderKey(search: Config['search'], key: string | undefined): Config['search'] {
  const { embedder } = search
  if (key === undefined || typeof embedder === 'string' || !('url' in embedder)) return search
  return { ...search, embedder: { ...embedder, key } }
}

function readText(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(`${flag} ${path} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
}

/** Rejects incomplete TLS settings, which would leave the server less secure than intended, and invalid files. */
function readTls(
  certificate: string | undefined,
  key: string | undefined,
  clientCa: string | undefined,
  clientCrl: string | undefined,
  clientRequired: boolean,
): TlsConfig | undefined {
  if (clientCrl !== undefined && clientCa === undefined) throw new ConfigError('--tls-client-crl needs --tls-client-ca')
  if (clientRequired && clientCa === undefined) throw new ConfigError('--tls-client-required needs --tls-client-ca')
  if (certificate === undefined || key === undefined) {
    if (certificate !== key) throw new ConfigError('--tls-cert and --tls-key must be set together')
    if (clientCa !== undefined) throw new ConfigError('--tls-client-ca needs --tls-cert and --tls-key')
    return undefined
  }
  const tls: TlsConfig = {
    cert: readText(certificate, '--tls-cert'),
    key: readText(key, '--tls-key'),
    clientRequired,
    ...(clientCa !== undefined && { clientCa: readText(clientCa, '--tls-client-ca') }),
    ...(clientCrl !== undefined && { clientCrl }),
  }
  if (clientCrl !== undefined) assertCrl(clientCrl)
  try {
    createSecureContext({ cert: tls.cert, key: tls.key, ca: tls.clientCa })
  } catch (error) {
    const reason = error instanceof Error ? error.message : error
    throw new ConfigError(
      `--tls-cert ${certificate} and --tls-key ${key} are not a valid certificate and key: ${reason}`,
    )
  }
  return tls
}

function assertCrl(path: string): void {
  try {
    createSecureContext({ crl: readText(path, '--tls-client-crl') })
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const reason = error instanceof Error ? error.message : error
    throw new ConfigError(`--tls-client-crl ${path} is not a list of revoked certificates (PEM): ${reason}`)
  }
}

function readFlag(name: string, text: string | undefined): boolean {
  if (text !== undefined && text !== 'true' && text !== 'false')
    throw new ConfigError(`${name} must be true or false, not "${text}"`)
  return text === 'true'
}

function readPort(text: string | undefined): number {
  const port = text === undefined ? DEFAULTS.port : /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port >= 0 && port <= 65_535)) throw new ConfigError(`--port must be a number from 0 to 65535, not "${text}"`)
  return port
}

function readDatabase(url: string | undefined): string | undefined {
  if (url === undefined || /^postgres(ql)?:\/\//.test(url)) return url
  throw new ConfigError('--database must be a postgres:// or postgresql:// URL')
}

function readPublicUrl(url: string | undefined): string | undefined {
  if (url === undefined) return undefined
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new ConfigError(`--public-url must be an http:// or https:// URL, not "${url}"`)
  return url.replace(/\/+$/, '')
}

function readSecret(variable: string, secret: string | undefined): string | undefined {
  if (secret === undefined || secret === '') return undefined
  if (secret.length < 16 || /\s/.test(secret))
    throw new ConfigError(`${variable} must have at least 16 characters and no spaces`)
  return secret
}

function readLogLevel(level: string | undefined): string {
  const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']
  if (level !== undefined && !levels.includes(level))
    throw new ConfigError(`--log-level must be one of ${levels.join(', ')}`)
  return level ?? DEFAULTS.logLevel
}
