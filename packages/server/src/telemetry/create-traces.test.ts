import { trace } from '@opentelemetry/api'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { startOtlpReceiver } from '../../test/telemetry/otlp-receiver.js'
import { type ClosableTraces, createTraces } from './create-traces.js'

const WAIT = { timeout: 30_000, interval: 20 }

afterEach(() => trace.disable())

const begin = (traces: ClosableTraces | undefined, name: string) =>
  traces?.start({ name, kind: 'internal', parent: undefined })

describe('createTraces', () => {
  it('returns nothing if nobody receives spans', async () => {
    const options = { otlp: undefined, version: '1.0.0', onError: vi.fn(), onRecovery: vi.fn() }
    expect(await createTraces(options)).toBeUndefined()
  })

  it('uses the tracer provider of the program that embeds the directory', async () => {
    const exporter = new InMemorySpanExporter()
    trace.setGlobalTracerProvider(new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }))
    const traces = await createTraces({ otlp: undefined, version: '1.0.0', onError: vi.fn(), onRecovery: vi.fn() })
    begin(traces, 'one')?.end()
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(['one'])
  })

  it('reports once that the receiver fails, and once that it is back', async () => {
    const receiver = await startOtlpReceiver()
    const events: string[] = []
    const traces = await createTraces({
      otlp: { url: `${receiver.url}/v1/traces` },
      version: '1.0.0',
      onError: () => events.push('error'),
      onRecovery: () => events.push('recovery'),
    })
    try {
      // A status after which the exporter does not repeat the request.
      receiver.status = 400
      for (const batch of ['first', 'second']) {
        const before = receiver.requests
        begin(traces, batch)?.end()
        await vi.waitFor(() => expect(receiver.requests).toBeGreaterThan(before), WAIT)
      }
      receiver.status = 200
      begin(traces, 'third')?.end()
      await vi.waitFor(() => expect(events).toEqual(['error', 'recovery']), WAIT)
      expect(receiver.spans.map(({ name }) => name)).toEqual(['third'])
    } finally {
      await traces?.close()
      await receiver.close()
    }
  })

  it('records a share of the traces', async () => {
    const receiver = await startOtlpReceiver()
    const options = { version: '1.0.0', onError: vi.fn(), onRecovery: vi.fn() }
    const traces = await createTraces({ ...options, otlp: { url: `${receiver.url}/v1/traces`, sampleRatio: 0.5 } })
    for (let i = 0; i < 200; i++) begin(traces, 'one')?.end()
    await traces?.close()
    expect(receiver.spans.length).toBeGreaterThan(50)
    expect(receiver.spans.length).toBeLessThan(150)
    await receiver.close()
  })
})
