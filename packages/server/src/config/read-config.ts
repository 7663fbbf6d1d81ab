import { compileSchema, isObject, type JsonObject, type JsonValue, parseJson } from '@switchboard/protocol'
import { nearestKey } from './nearest-key.js'
import { readText, readTls, withSecretFiles } from './read-files.js'
import { readOtlp } from './read-otlp.js'
import { configSchema } from './schema.js'
import { NAMED_SETTINGS, sourcesOf } from './setting-sources.js'
import { assertSafe, type Config, ConfigError, DEFAULTS, GROUPS } from './settings.js'

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
  mdns?: boolean
  config?: string
  'log-level'?: string
  'access-log'?: boolean
}

/** Reads settings from flags, environment, config file and defaults, in this order of precedence. */
export function readConfig(flags: Flags = {}, variables: NodeJS.ProcessEnv = process.env): Config {
  const env = withSecretFiles(variables)
  const file = flags.config ?? env.SWITCHBOARD_CONFIG
  const settings = file === undefined ? {} : readFile(file)
  const text = (key: keyof typeof NAMED_SETTINGS): string | undefined => {
    const [flag, variable] = NAMED_SETTINGS[key]
    const value = flags[flag] ?? env[variable] ?? settings[key]
    return value === undefined ? undefined : String(value)
  }
  const larger = fileSettings(settings, env)
  const config: Config = {
    ...DEFAULTS,
    ...larger,
    host: text('host') ?? DEFAULTS.host,
    port: readPort(text('port')),
    data: text('data') ?? DEFAULTS.data,
    database: readDatabase(text('database')),
    publicUrl: readPublicUrl(text('publicUrl')),
    behindProxy: readFlag('--behind-proxy', text('behindProxy')),
    adminKey: readSecret('SWITCHBOARD_ADMIN_KEY', env.SWITCHBOARD_ADMIN_KEY),
    metricsToken: readSecret('SWITCHBOARD_METRICS_TOKEN', env.SWITCHBOARD_METRICS_TOKEN),
    secret: readSecret('SWITCHBOARD_SECRET', env.SWITCHBOARD_SECRET),
    search: withEmbedderKey(larger.search ?? DEFAULTS.search, env.SWITCHBOARD_EMBEDDER_KEY),
    mdns: withMdnsFlag(larger.mdns ?? DEFAULTS.mdns, flags.mdns ?? env.SWITCHBOARD_MDNS),
    logLevel: readLogLevel(text('logLevel')),
    accessLog: readFlag('--access-log', text('accessLog')),
    telemetry: { otlp: readOtlp(settings.telemetry, env) },
    tls: readTls(
      text('tlsCert'),
      text('tlsKey'),
      text('tlsClientCa'),
      text('tlsClientCrl'),
      readFlag('--tls-client-required', text('tlsClientRequired')),
    ),
  }
  assertSafe(config)
  return { ...config, sources: sourcesOf({ flags: { ...flags }, variables, settings, file }) }
}

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
    ...(Array.isArray(settings.issuers) && { issuers: settings.issuers.map(withClientSecrets(env)) }),
    ...(Array.isArray(settings.peers) && { peers: settings.peers.map(withToken) }),
  } as Partial<Config>
}

/** The token for a peer may come from a file, so that the config contains no secret. */
function withToken(peer: JsonValue): JsonValue {
  if (!isObject(peer) || typeof peer.tokenFile !== 'string') return peer
  const { tokenFile, ...rest } = peer
  return { ...rest, token: readText(tokenFile, 'tokenFile').trim() }
}

/** The directory's secrets at an issuer come from files or the environment, so that the config contains none. */
const withClientSecrets =
  (env: NodeJS.ProcessEnv) =>
  (issuer: JsonValue): JsonValue => {
    if (!isObject(issuer)) return issuer
    const { introspection, signIn } = issuer
    return {
      ...issuer,
      ...(isObject(introspection) && { introspection: withClientSecret(introspection, env, true) }),
      ...(isObject(signIn) && { signIn: withClientSecret(signIn, env, false) }),
    }
  }

function withClientSecret(client: JsonObject, env: NodeJS.ProcessEnv, isRequired: boolean): JsonObject {
  const { clientSecretFile: file, clientSecretVariable: variable, ...rest } = client
  if (file === undefined && variable === undefined && !isRequired) return rest
  if ((typeof file === 'string') === (typeof variable === 'string'))
    throw new ConfigError(
      `issuers: ${isRequired ? 'an introspection' : 'a signIn'} needs either clientSecretFile or clientSecretVariable`,
    )
  const secret = typeof file === 'string' ? readText(file, 'clientSecretFile').trim() : env[String(variable)]
  if (!secret) throw new ConfigError(`issuers: the client secret in ${String(file ?? variable)} is missing or empty`)
  return { ...rest, clientSecret: secret }
}

const withMdnsFlag = (mdns: Config['mdns'], flag: boolean | string | undefined): Config['mdns'] =>
  flag === undefined ? mdns : { ...mdns, enabled: readFlag('--mdns', String(flag)) }

/** The key of the embedding endpoint may come from the environment, so that no file contains a secret. */
function withEmbedderKey(search: Config['search'], key: string | undefined): Config['search'] {
  const { embedder } = search
  if (key === undefined || typeof embedder === 'string' || !('url' in embedder)) return search
  return { ...search, embedder: { ...embedder, key } }
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
