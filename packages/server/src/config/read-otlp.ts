import { isObject, type JsonValue } from '@switchboard/protocol'
import type { OtlpOptions } from '../telemetry/create-traces.js'
import { ConfigError } from './settings.js'

/** Path for spans below the address of a receiver (OTLP §Exporter, `OTEL_EXPORTER_OTLP_ENDPOINT`). */
const TRACES_PATH = '/v1/traces'

/**
 * Reads where to send spans: OpenTelemetry's own variables, then `telemetry.otlp` of the config file, whose types the
 * schema has checked. The exporter itself reads further variables, such as `OTEL_EXPORTER_OTLP_HEADERS`.
 */
export function readOtlp(settings: JsonValue | undefined, env: NodeJS.ProcessEnv): OtlpOptions | undefined {
  const otlp = isObject(settings) && isObject(settings.otlp) ? settings.otlp : undefined
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT || (typeof otlp?.url === 'string' ? otlp.url : undefined)
  const url = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || (base && tracesUrl(base))
  if (!url) {
    if (otlp) throw new ConfigError('telemetry.otlp needs a url, such as http://collector:4318')
    return undefined
  }
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return undefined
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new ConfigError(`the OTLP endpoint must be an http:// or https:// URL, not "${url}"`)
  const serviceName = env.OTEL_SERVICE_NAME ?? otlp?.serviceName
  return {
    url,
    ...(isObject(otlp?.headers) && {
      headers: Object.fromEntries(Object.entries(otlp.headers).map(([name, value]) => [name, String(value)])),
    }),
    ...(typeof serviceName === 'string' && { serviceName }),
    ...(typeof otlp?.sampleRatio === 'number' && { sampleRatio: otlp.sampleRatio }),
  }
}

const tracesUrl = (base: string): string =>
  base.endsWith(TRACES_PATH) ? base : `${base.replace(/\/+$/, '')}${TRACES_PATH}`
