import { describe, expect, it } from 'vitest'
import { readOtlp } from './read-otlp.js'

const otlp = (url: string) => ({ otlp: { url } })

describe('readOtlp', () => {
  it('is undefined if neither the config nor the environment names a receiver', () => {
    expect(readOtlp(undefined, {})).toBeUndefined()
    expect(readOtlp({}, { OTEL_SERVICE_NAME: 'x' })).toBeUndefined()
  })

  it.each([
    ['http://collector:4318', 'http://collector:4318/v1/traces'],
    ['http://collector:4318/', 'http://collector:4318/v1/traces'],
    ['https://otlp.example/tenant', 'https://otlp.example/tenant/v1/traces'],
    ['https://otlp.example/v1/traces', 'https://otlp.example/v1/traces'],
  ])('takes the address %s of the config or of OTEL_EXPORTER_OTLP_ENDPOINT', (given, url) => {
    expect(readOtlp(otlp(given), {})).toEqual({ url })
    expect(readOtlp(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: given })).toEqual({ url })
  })

  it('prefers the environment, and there the address for traces, as it is', () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:4318' }
    expect(readOtlp(otlp('http://b:4318'), env)?.url).toBe('http://a:4318/v1/traces')
    const both = { ...env, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/spans' }
    expect(readOtlp(otlp('http://b:4318'), both)?.url).toBe('http://c/spans')
  })

  it('takes the other settings of the config, and the name of the service from the environment', () => {
    const settings = {
      otlp: { url: 'http://a:4318', headers: { 'x-key': 'k' }, serviceName: 'one', sampleRatio: 0.1 },
    }
    const rest = { headers: { 'x-key': 'k' }, sampleRatio: 0.1 }
    expect(readOtlp(settings, {})).toMatchObject({ ...rest, serviceName: 'one' })
    expect(readOtlp(settings, { OTEL_SERVICE_NAME: 'two' })).toMatchObject({ ...rest, serviceName: 'two' })
  })

  it.each([{ OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_EXPORTER: 'none' }])('is switched off by %o', (env) => {
    expect(readOtlp(otlp('http://a:4318'), env)).toBeUndefined()
  })

  it('rejects a receiver without an address, and addresses of other schemes', () => {
    expect(() => readOtlp({ otlp: {} }, {})).toThrow('telemetry.otlp needs a url')
    expect(() => readOtlp(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).toThrow('must be an http')
  })
})
