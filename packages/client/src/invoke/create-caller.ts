import { createPublisherSchemas, type JsonObject, type JsonValue, type StreamPart } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { createResolver } from '../resolve/create-resolver.js'
import type { ResolvedAgent } from '../resolve/resolved-agent.js'
import type { CallInput, Output, Reply } from '../transports/call.js'
import { createTransports, type Transports } from '../transports/transports.js'
import { isPlainInput } from './call-input.js'
import type { CallerOptions, CallOptions } from './options.js'
import { type PreparedCall, prepareCall } from './prepare-call.js'

/** Calls agents by URI; the calls share connections and cached descriptors. */
export interface AgentCaller {
  /**
   * Calls an agent and waits for its response, deferred ones too.
   *
   * @typeParam T the output that you expect; see `Reply`
   */
  invoke<T = Output>(uri: string, input?: CallInput, options?: CallOptions): Promise<Reply<T>>
  /** Calls an agent and yields the parts of its response as they arrive. Leaving the loop cancels the call. */
  stream(uri: string, input?: CallInput, options?: CallOptions): AsyncGenerator<StreamPart, void, undefined>
  readonly transports: Transports
  /** Closes the connections. */
  close(): Promise<void>
}

/** A bounded cache of prepared schemas, shared by all callers. */
const schemas = createPublisherSchemas()

/** For endpoints on this computer, in development; an agent URI cannot name them. */
const UNENCRYPTED = new Set(['http', 'ws'])

/**
 * Creates a caller of agents. Close it when you are done.
 *
 * @example
 * const caller = createCaller({ credentials: { type: 'bearer', token } })
 * const { output } = await caller.invoke('agent://translator.example/translate', { text: 'Bonjour', to: 'zh' })
 * await caller.close()
 */
export function createCaller(options: CallerOptions = {}): AgentCaller {
  const { resolveTimeoutMs, transports: given, credentials, models = {}, ...rest } = options
  const transports = given ?? createTransports(rest)
  const resolverOf = () =>
    createResolver({
      ...rest,
      transports: transports.names.filter((name) => !UNENCRYPTED.has(name)),
      ...(resolveTimeoutMs !== undefined && { timeoutMs: resolveTimeoutMs }),
    })

  const prepare = async (
    uri: string,
    input: CallInput | undefined,
    call: CallOptions,
    wantsStream: boolean,
  ): Promise<PreparedCall & { readonly resolved: ResolvedAgent }> => {
    const { signal, version } = call
    const resolved = await resolverOf().resolveAgent(uri, {
      ...(signal && { signal }),
      ...(version !== undefined && { version }),
    })
    const setup = { transports, models, policy: options, ...(credentials && { credentials }) }
    const prepared = await prepareCall(resolved, input, call, setup, wantsStream)
    if (call.checkInput !== false) assertValidInput(resolved, prepared.input)
    return { ...prepared, resolved }
  }

  function invoke<T>(uri: string, input?: CallInput, callOptions?: CallOptions): Promise<Reply<T>>
  async function invoke(uri: string, input?: CallInput, callOptions: CallOptions = {}): Promise<Reply> {
    const { call, model, resolved, warnings } = await prepare(uri, input, callOptions, false)
    const reply = await transports.get(call.endpoint.transport).invoke(call)
    const output = model && !(reply.output instanceof Uint8Array) ? model.toOutput(reply.output) : reply.output
    const outputValid = reply.outputValid ?? matchesSchema(resolved.capabilityDetails?.output, output)
    return {
      ...reply,
      output,
      ...(outputValid !== undefined && { outputValid }),
      warnings: [...warnings, ...reply.warnings],
    }
  }

  return {
    transports,
    invoke,
    async *stream(uri, input, callOptions = {}) {
      const { call, model } = await prepare(uri, input, callOptions, true)
      for await (const part of transports.get(call.endpoint.transport).stream(call)) {
        yield model ? { ...part, data: model.toOutput(part.data) } : part
      }
    },
    async close() {
      // Transports in the options are closed by their owner.
      if (!given) await transports.close()
    },
  }
}

/** Throws if the input does not match the capability's schema; the error names every invalid member (AURI §7). */
function assertValidInput({ uri, capability, capabilityDetails }: ResolvedAgent, input: CallInput | undefined): void {
  const schema = capabilityDetails?.input
  if (schema === undefined || (input !== undefined && !isJson(input))) return
  const issues = schemas.check(schema, input ?? {})
  if (issues.length === 0) return
  const messages = issues.map(({ at, message }) => (at === '' ? `the input ${message}` : `${at} ${message}`))
  throw new ClientError('invalid_input', `${capability} of ${uri.split('?')[0]}: ${messages.join('; ')}`, {
    details: issues,
  })
}

/** Whether an output matches the capability's schema; undefined if there is no schema for it. */
function matchesSchema(schema: JsonObject | undefined, output: Reply['output']): boolean | undefined {
  return schema === undefined || output instanceof Uint8Array ? undefined : schemas.check(schema, output).length === 0
}

const isJson = (input: CallInput): input is JsonValue =>
  isPlainInput(input) || !(input instanceof Uint8Array || input instanceof FormData)
