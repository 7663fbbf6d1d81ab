import {
  type Span as ApiSpan,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Span, SpanStart, TraceHeaders, Traces } from './traces.js'

/**
 * The version of OpenTelemetry's semantic conventions that our spans follow. The conventions for generative AI are not
 * stable yet, so names change only together with this number.
 */
export const SEMANTIC_CONVENTIONS = '1.41.0'

export interface TracesOptions {
  /** Where to send spans; undefined: to the tracer provider of the program that embeds the directory, if it has one. */
  readonly otlp: OtlpOptions | undefined
  /** The release. */
  readonly version: string
  /** Spans could not be sent. Called once until they can be sent again. */
  readonly onError: (error: unknown) => void
  readonly onRecovery: () => void
}

/** A receiver of spans that speaks OTLP over HTTP. */
export interface OtlpOptions {
  /** Address for spans, such as `http://collector:4318/v1/traces`. */
  readonly url: string
  /** Sent with every request, such as credentials. */
  readonly headers?: Readonly<Record<string, string>>
  /** Name of this directory in traces. Default: `switchboard`. */
  readonly serviceName?: string
  /**
   * Share of the traces that are recorded, 0 to 1. Default: 1. A trace that a caller has begun is recorded if the
   * caller's is.
   */
  readonly sampleRatio?: number
}

export interface ClosableTraces extends Traces {
  /** Sends what is left. */
  close(): Promise<void>
}

const NAME = '@switchboard/server'
const SCHEMA_URL = `https://opentelemetry.io/schemas/${SEMANTIC_CONVENTIONS}`
/** Milliseconds between two batches of spans. */
const BATCH_MS = 500

/** Undefined if nobody receives spans. The SDK is loaded only if it is needed. */
export async function createTraces(options: TracesOptions): Promise<ClosableTraces | undefined> {
  const { otlp, version } = options
  const provider = otlp && (await startProvider(otlp, options))
  const tracer = provider ? provider.getTracer(NAME, version, { schemaUrl: SCHEMA_URL }) : hostTracer(version)
  if (!tracer) return undefined
  const { W3CTraceContextPropagator } = await import('@opentelemetry/core')
  return {
    start: starter(tracer, new W3CTraceContextPropagator()),
    close: async () => provider?.shutdown(),
  }
}

/** The tracer of the embedding program; undefined if it has not registered a provider. */
function hostTracer(version: string): Tracer | undefined {
  const provider = trace.getTracerProvider()
  const options = { schemaUrl: SCHEMA_URL }
  return provider instanceof ProxyTracerProvider
    ? provider.getDelegateTracer(NAME, version, options)
    : provider.getTracer(NAME, version, options)
}

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL }

function starter(tracer: Tracer, propagator: TextMapPropagator): Traces['start'] {
  /** The spans that this process has started, to be used as parents without a detour through headers. */
  const known = new WeakMap<object, ApiSpan>()
  const contextOf = (parent: Span | TraceHeaders | undefined) => {
    const local = parent && known.get(parent)
    if (local) return trace.setSpan(ROOT_CONTEXT, local)
    return parent ? propagator.extract(ROOT_CONTEXT, parent, defaultTextMapGetter) : ROOT_CONTEXT
  }
  return ({ name, kind, parent, attributes }: SpanStart): Span => {
    const started = tracer.startSpan(name, { kind: KINDS[kind], attributes: { ...attributes } }, contextOf(parent))
    const headers: Record<string, string> = {}
    propagator.inject(trace.setSpan(ROOT_CONTEXT, started), headers, defaultTextMapSetter)
    const span: Span = {
      headers,
      set: (more) => started.setAttributes({ ...more }),
      end(error) {
        if (error !== undefined) {
          started.setAttribute('error.type', error)
          started.setStatus({ code: SpanStatusCode.ERROR })
        }
        started.end()
      },
    }
    known.set(span, started)
    return span
  }
}

/** Loads the SDK, which most directories never need. */
async function startProvider(
  { url, headers, serviceName = 'switchboard', sampleRatio = 1 }: OtlpOptions,
  options: TracesOptions,
) {
  const [sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const exporter = reportOutages(new OTLPTraceExporter({ url, headers: { ...headers } }), options)
  return new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': serviceName, 'service.version': options.version }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter, scheduledDelayMillis: BATCH_MS })],
  })
}

/** Reports once that the receiver fails, and once that it is back: batches fail every few seconds until then. */
function reportOutages(
  exporter: SpanExporter,
  { onError, onRecovery }: Pick<TracesOptions, 'onError' | 'onRecovery'>,
): SpanExporter {
  let isFailing = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined
        if (hasFailed && !isFailing) onError(result.error)
        if (!hasFailed && isFailing) onRecovery()
        isFailing = hasFailed
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}
