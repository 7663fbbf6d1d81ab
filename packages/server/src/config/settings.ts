import { isLoopbackHost, type Strictness } from '@switchboard/protocol'
import type { NamePolicy } from '../policy/access.js'
import { parseSiteUrl } from '../policy/crawl.js'
import { type PeerSettings, peersProblem } from '../policy/federation.js'
import type { Quota } from '../policy/quota.js'
import type { LimitedAction } from '../policy/rate-limit.js'
import type { TaxonomyConfig } from '../policy/taxonomy.js'
import type { VettingPolicy } from '../policy/vetting.js'
import { type Issuer, issuersProblem } from '../services/identity/issuers.js'
import type { OtlpOptions } from '../telemetry/create-traces.js'
import type { SettingSources } from './setting-sources.js'

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
  /** A secret with which Prometheus may read the metrics, and nothing else. */
  metricsToken: string | undefined
  /** Encrypts other secrets in the store. Default: a key file in the data folder; none with PostgreSQL. */
  secret: string | undefined
  logLevel: string
  /** One log line for each request. */
  accessLog: boolean
  telemetry: {
    /** Where spans are sent; undefined: nowhere. */
    otlp: OtlpOptions | undefined
  }
  rateLimits: Record<LimitedAction, number>
  /** How much each owner may register; administrators may exceed it. */
  quotas: Quota
  /** Open connections, in total and per address (not behind a proxy), and how long a client may not read its response. */
  connections: { max: number; maxPerAddress: number; stallTimeoutMs: number }
  /** How long a server that is to stop still accepts connections: until load balancers have read that it is not ready. */
  shutdown: { delayMs: number }
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
    /** Where agents are found by text: in the memory of each process, or in the database that replicas share. */
    engine: 'memory' | 'postgres'
    semantic: boolean
    /** Whether outcomes of calls and ratings influence the ranking. */
    learn: boolean
    embedder: EmbedderConfig
    taxonomies: TaxonomyConfig[]
    /** Words to add to the lexicon, which says what words of other languages mean in English. */
    lexicon: { language: string; path: string }[]
    /** How many candidates from each of word and vector search are ranked (PROF §7.2). */
    rerankLimit: number
    /** Milliseconds that a query waits for its embeddings; then it is ranked without them. */
    embedTimeoutMs: number
    /** Where the text index is saved. Default: in the folder of the embedded store; with a database it is not saved. */
    indexFile?: string
  }
  /** Intent resolution (AIDIP §6), which is optional (AIDIP §8). */
  resolution: { enabled: boolean }
  /** The web console at `/`. */
  console: { enabled: boolean }
  anonymous: 'public' | 'none'
  lifetimes: { max: number }
  issuers: Issuer[]
  /** Directories whose agents this one lists. */
  peers: PeerSettings[]
  certificates: { scopes: string[] }
  cors: { origins: string[] }
  policy: Policy
  /** Seconds for which API keys are accepted while the database cannot say whether they were revoked. */
  keys: { maxStaleSeconds: number }
  /** After how many hours people who use the console in a browser have to sign in again. */
  sessions: { hours: number }
  audit: { retentionDays: number; addresses: boolean }
  /** Regular checks whether agents can be reached. Off by default: they connect to every address that is registered. */
  liveness: { enabled: boolean; intervalSeconds: number }
  /** Signatures of documents are verified again at this interval: signers replace and revoke keys. */
  signatures: { intervalSeconds: number }
  /** Reading of what agents list themselves: tools of MCP servers, skills of A2A cards, operations of OpenAPI documents. */
  operations: { fetch: boolean; intervalSeconds: number }
  /** Regular trials of agents with their own examples, if their publishers agree. Off by default: every one is a call. */
  probes: { enabled: boolean; intervalSeconds: number }
  /** Reading of agents that sites publish: those that callers ask for, and those listed here. */
  crawl: {
    enabled: boolean
    urls: string[]
    intervalSeconds: number
    /** Milliseconds between two requests to one host. */
    pauseMs: number
    maxAgentsPerSite: number
    /** Where the operators of sites can reach you: a URL or an address; part of the User-Agent. Default: the public URL. */
    contact?: string
  }
  /** Advertisement on the local network by multicast DNS. */
  mdns: {
    enabled: boolean
    /** What people see in a list. Default: the name of this machine. */
    name?: string
    /** Names of network interfaces; empty: all. */
    interfaces: string[]
  }
  /** Where the settings were read from; absent if a program that embeds the directory has set them. */
  sources?: SettingSources
}

/** The embedding model: the built-in one, none, a folder with an ONNX model, or an HTTP endpoint. */
export type EmbedderConfig =
  | 'builtin'
  | 'static'
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
  metricsToken: undefined,
  secret: undefined,
  logLevel: 'info',
  accessLog: false,
  telemetry: { otlp: undefined },
  rateLimits: { search: 600, register: 120, lookup: 1200, invoke: 600 },
  quotas: { agents: 50_000, bytes: 256 * 1024 * 1024 },
  connections: { max: 10_000, maxPerAddress: 1024, stallTimeoutMs: 60_000 },
  shutdown: { delayMs: 0 },
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
  search: {
    engine: 'memory',
    semantic: true,
    learn: true,
    embedder: 'builtin',
    taxonomies: [],
    lexicon: [],
    rerankLimit: 100,
    embedTimeoutMs: 300,
  },
  resolution: { enabled: true },
  console: { enabled: true },
  anonymous: 'public',
  lifetimes: { max: 604_800 },
  issuers: [],
  peers: [],
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
  keys: { maxStaleSeconds: 3600 },
  sessions: { hours: 8 },
  audit: { retentionDays: 30, addresses: true },
  liveness: { enabled: false, intervalSeconds: 3600 },
  signatures: { intervalSeconds: 86_400 },
  operations: { fetch: true, intervalSeconds: 21_600 },
  probes: { enabled: false, intervalSeconds: 86_400 },
  crawl: { enabled: true, urls: [], intervalSeconds: 86_400, pauseMs: 1000, maxAgentsPerSite: 100 },
  mdns: { enabled: false, interfaces: [] },
}

/** Groups of settings that may be given in part. */
export const GROUPS = [
  'rateLimits',
  'quotas',
  'connections',
  'shutdown',
  'gateway',
  'search',
  'resolution',
  'console',
  'lifetimes',
  'certificates',
  'cors',
  'liveness',
  'signatures',
  'operations',
  'probes',
  'crawl',
  'keys',
  'sessions',
  'mdns',
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
  shutdown: { ...DEFAULTS.shutdown, ...settings.shutdown },
  gateway: { ...DEFAULTS.gateway, ...settings.gateway },
  search: { ...DEFAULTS.search, ...settings.search },
  resolution: { ...DEFAULTS.resolution, ...settings.resolution },
  console: { ...DEFAULTS.console, ...settings.console },
  lifetimes: { ...DEFAULTS.lifetimes, ...settings.lifetimes },
  certificates: { ...DEFAULTS.certificates, ...settings.certificates },
  cors: { ...DEFAULTS.cors, ...settings.cors },
  liveness: { ...DEFAULTS.liveness, ...settings.liveness },
  signatures: { ...DEFAULTS.signatures, ...settings.signatures },
  operations: { ...DEFAULTS.operations, ...settings.operations },
  probes: { ...DEFAULTS.probes, ...settings.probes },
  crawl: { ...DEFAULTS.crawl, ...settings.crawl },
  keys: { ...DEFAULTS.keys, ...settings.keys },
  sessions: { ...DEFAULTS.sessions, ...settings.sessions },
  mdns: { ...DEFAULTS.mdns, ...settings.mdns },
  audit: { ...DEFAULTS.audit, ...settings.audit },
})

/** Refuses plain HTTP beyond this machine (C-72), and replicas that would each sign with their own key. */
export function assertSafe(config: Config): void {
  const { host, tls, behindProxy, database, secret, gateway, issuers, peers, crawl, mdns, publicUrl, search } = config
  if (search.engine === 'postgres' && database === undefined)
    throw new ConfigError('search.engine "postgres" needs --database: the text index is in that database')
  const problem = issuersProblem(issuers)
  if (problem !== undefined) throw new ConfigError(`issuers: ${problem}`)
  const peerProblem = peersProblem(peers)
  if (peerProblem !== undefined) throw new ConfigError(`peers: ${peerProblem}`)
  if (gateway.sign && database !== undefined && secret === undefined)
    throw new ConfigError(
      'gateway.sign with a database needs SWITCHBOARD_SECRET: set it to the same value on all replicas',
    )
  if (mdns.enabled && behindProxy && publicUrl === undefined)
    throw new ConfigError('--mdns with --behind-proxy needs --public-url: clients on the network must reach the proxy')
  if (behindProxy && publicUrl === undefined && issuers.some(({ signIn }) => signIn))
    throw new ConfigError('signIn with --behind-proxy needs --public-url: the identity provider sends browsers there')
  if (database !== undefined && secret === undefined && issuers.some(({ signIn }) => signIn))
    throw new ConfigError('signIn with a database needs SWITCHBOARD_SECRET: set it to the same value on all replicas')
  for (const url of crawl.urls) assertSiteUrl(url, !isProduction(config))
  if (tls || behindProxy || isLoopbackHost(host)) return
  throw new ConfigError(
    `plain HTTP on ${host} is not allowed: set --tls-cert and --tls-key, or --behind-proxy if a proxy terminates TLS`,
  )
}

function assertSiteUrl(url: string, httpLoopback: boolean): void {
  try {
    parseSiteUrl(url, httpLoopback)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ConfigError(`crawl.urls: "${url}" ${error.message}`)
  }
}

/** Fewest calls of one caller by default, however low the other limits are. */
const MIN_CALLS_PER_CALLER = 8

/** Most concurrent calls of one caller. By default, one caller takes at most half of the slots of an agent. */
export const maxCallsPerCallerOf = ({ maxCalls, maxCallsPerAgent, maxCallsPerCaller }: Config['gateway']): number =>
  maxCallsPerCaller ?? Math.max(MIN_CALLS_PER_CALLER, Math.floor(Math.min(maxCalls, maxCallsPerAgent) / 2))

/** TLS, or a proxy that terminates it, means production, even on loopback (C-72). */
export const isProduction = ({ tls, behindProxy }: Pick<Config, 'tls' | 'behindProxy'>): boolean =>
  tls !== undefined || behindProxy
