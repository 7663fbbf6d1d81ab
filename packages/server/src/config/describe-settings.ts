import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import { configSchema } from './schema.js'
import type { SettingSource } from './setting-sources.js'
import { type Config, DEFAULTS } from './settings.js'

/** A setting as it is in force. */
export interface Setting {
  /** As in the config file: `gateway.timeoutMs`. */
  readonly key: string
  /** Of a secret, only whether it is set. */
  readonly value: JsonValue
  readonly default: JsonValue
  readonly is_secret: boolean
  /** `program`: set by the program that embeds the directory. */
  readonly source: SettingSource['from'] | 'default' | 'program'
  /** The flag, the variable or the file that sets it. */
  readonly set_by?: string
  readonly description?: string
}

/** Settings that only the environment has. */
const ENVIRONMENT_ONLY = ['adminKey', 'metricsToken', 'secret']

/** Members whose values are never shown, at any depth. TLS files are kept as their content. */
const SECRET = /(key|token|secret|password|headers)$/i
const CONTENTS: ReadonlySet<string> = new Set(['tlsCert', 'tlsClientCa'])
/** What is shown instead. */
const IS_SET = '(set)'

/** Characters of a value as JSON, such as of a taxonomy; of longer ones only the length is shown. */
const MAX_VALUE = 4000

/** All settings with their values, defaults and sources, without secrets. */
export function describeSettings(config: Config): Setting[] {
  const keys = [...leavesOf(configSchema), ...ENVIRONMENT_ONLY.map((key) => ({ key, description: undefined }))]
  return keys.map(({ key, description }) => {
    const value = settingOf(config, key)
    const preset = settingOf(DEFAULTS, key)
    const isSecret = SECRET.test(key) || CONTENTS.has(key)
    const source = config.sources?.[key]
    const isDefault = JSON.stringify(value) === JSON.stringify(preset)
    return {
      key,
      value: isSecret ? isSet(value) : show(value),
      default: isSecret ? isSet(preset) : show(preset),
      is_secret: isSecret,
      source: source?.from ?? (isDefault || config.sources ? 'default' : 'program'),
      ...(source && { set_by: source.name }),
      ...(description !== undefined && { description }),
    }
  })
}

/** The keys of the schema that are not groups of keys. */
function leavesOf(schema: JsonObject, path = ''): { key: string; description: string | undefined }[] {
  if (!isObject(schema.properties)) return []
  return Object.entries(schema.properties).flatMap(([name, inner]) => {
    // `$schema` is for editors.
    if (!isObject(inner) || name === '$schema') return []
    if (isObject(inner.properties)) return leavesOf(inner, `${path}${name}.`)
    return [{ key: path + name, description: typeof inner.description === 'string' ? inner.description : undefined }]
  })
}

/** Keys that the config keeps elsewhere than the config file. */
const PLACES: Readonly<Record<string, string>> = {
  tlsCert: 'tls.cert',
  tlsKey: 'tls.key',
  tlsClientCa: 'tls.clientCa',
  tlsClientCrl: 'tls.clientCrl',
  tlsClientRequired: 'tls.clientRequired',
  'policy.strict01': 'policy.strictness.strict01',
  'policy.lenientCapabilities': 'policy.strictness.lenientCapabilities',
  'policy.refuseUnknownMembers': 'policy.strictness.refuseUnknownMembers',
}

function settingOf(config: Config, key: string): unknown {
  let value: unknown = config
  for (const name of (PLACES[key] ?? key).split('.'))
    value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
  return value
}

const isSet = (value: unknown): JsonValue => (value === undefined ? null : IS_SET)

function show(value: unknown): JsonValue {
  const shown = redact(value)
  const { length } = JSON.stringify(shown)
  return length > MAX_VALUE ? `(${length} characters of JSON)` : shown
}

function redact(value: unknown): JsonValue {
  if (typeof value === 'string') return withoutCredentials(value)
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return null
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, SECRET.test(name) ? isSet(inner) : redact(inner)]),
  )
}

/** A URL without user, password and query, each of which may be a secret. */
function withoutCredentials(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text
  // PostgreSQL accepts several hosts in one URL, which are not a valid URL.
  if (!URL.canParse(text)) return IS_SET
  const url = new URL(text)
  if (url.username === '' && url.password === '' && url.search === '') return text
  url.username = ''
  url.password = ''
  url.search = ''
  return url.href
}
