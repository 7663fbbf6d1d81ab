import { isObject, type JsonObject } from '@switchboard/protocol'

/** Where the value of a setting comes from, and under which name. */
export interface SettingSource {
  readonly from: 'flag' | 'environment' | 'file'
  /** The flag, the variable, or the path of the file. */
  readonly name: string
}

/** By the key of the setting, as in the config file: `gateway.timeoutMs`. What is missing has its default. */
export type SettingSources = Readonly<Record<string, SettingSource>>

/** Settings that a flag and a variable can set, besides the config file. */
export const NAMED_SETTINGS = {
  host: ['host', 'SWITCHBOARD_HOST'],
  port: ['port', 'SWITCHBOARD_PORT'],
  data: ['data', 'SWITCHBOARD_DATA'],
  database: ['database', 'SWITCHBOARD_DATABASE_URL'],
  publicUrl: ['public-url', 'SWITCHBOARD_PUBLIC_URL'],
  behindProxy: ['behind-proxy', 'SWITCHBOARD_BEHIND_PROXY'],
  logLevel: ['log-level', 'SWITCHBOARD_LOG_LEVEL'],
  accessLog: ['access-log', 'SWITCHBOARD_ACCESS_LOG'],
  tlsCert: ['tls-cert', 'SWITCHBOARD_TLS_CERT'],
  tlsKey: ['tls-key', 'SWITCHBOARD_TLS_KEY'],
  tlsClientCa: ['tls-client-ca', 'SWITCHBOARD_TLS_CLIENT_CA'],
  tlsClientCrl: ['tls-client-crl', 'SWITCHBOARD_TLS_CLIENT_CRL'],
  tlsClientRequired: ['tls-client-required', 'SWITCHBOARD_TLS_CLIENT_REQUIRED'],
} as const

/** Flags and variables of settings that are read in another way; several variables of one setting in order. */
const OTHERS: readonly (readonly [key: string, flag: string | undefined, ...variables: string[]])[] = [
  ['mdns.enabled', 'mdns', 'SWITCHBOARD_MDNS'],
  ['adminKey', undefined, 'SWITCHBOARD_ADMIN_KEY'],
  ['metricsToken', undefined, 'SWITCHBOARD_METRICS_TOKEN'],
  ['secret', undefined, 'SWITCHBOARD_SECRET'],
  ['telemetry.otlp.url', undefined, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
]

export interface ReadFrom {
  readonly flags: Readonly<Record<string, unknown>>
  readonly variables: NodeJS.ProcessEnv
  readonly settings: JsonObject
  /** The path of the config file. */
  readonly file: string | undefined
}

/** Says for each setting that was given where its value comes from. */
export function sourcesOf({ flags, variables, settings, file }: ReadFrom): SettingSources {
  const sources: Record<string, SettingSource> = {}
  if (file !== undefined) for (const key of keysOf(settings)) sources[key] = { from: 'file', name: file }
  const named = Object.entries(NAMED_SETTINGS).map(([key, [flag, variable]]) => [key, flag, variable] as const)
  for (const [key, flag, ...candidates] of [...named, ...OTHERS]) {
    // A secret may be in a file that a variable names.
    const variable = candidates.flatMap((name) => [name, `${name}_FILE`]).find((name) => variables[name])
    if (flag !== undefined && flags[flag] !== undefined) sources[key] = { from: 'flag', name: `--${flag}` }
    else if (variable !== undefined) sources[key] = { from: 'environment', name: variable }
  }
  return sources
}

/** The keys of all values that are not groups: `host`, `gateway.timeoutMs`. */
const keysOf = (settings: JsonObject, path = ''): string[] =>
  Object.entries(settings).flatMap(([name, value]) =>
    isObject(value) ? [path + name, ...keysOf(value, `${path}${name}.`)] : [path + name],
  )
