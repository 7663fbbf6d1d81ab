import { createPublisherSchemas, type JsonObject, type JsonValue, type StreamPart } from '@switchboard/protocol'
import { ClientError } from '../errors.js'
import { createResolver } from '../resolve/create-resolver.js'
import type { ResolvedAgent } from '../resolve/resolved-agent.js'
import type { CallInput, Output, Reply } from '../transports/call.js'
import { createTransports, type Transports } from '../transports/transports.js'
import { isPlainInput } from './call-input.js'
import type { CallerOptions, CallOptions } from './options.js'
import { type PreparedCall, prepareCall } from './prepare-call.js'

/** Calls agents by their URIs, with one cache of descriptors and connections that calls share. */
export interface AgentCaller {
  /** @typeParam T the output that you expect; see `Reply` */
  invoke<T = Output>(uri: string, input?: CallInput, options?: CallOptions): Promise<Reply<T>>
  /** Leaving the loop cancels the agent's work. */
  stream(uri: string, input?: CallInput, options?: CallOptions): AsyncGenerator<StreamPart, void, undefined>
  readonly transports: Transports
  /** Lets go of the connections that are kept open. */
  close(): Promise<void>
}

/** Schemas of publishers made ready; bounded, and shared by all callers. */
const schemas = createPublisherSchemas()

/** Spoken where a descriptor on this computer says so, in development; no URI asks for them. */
const UNENCRYPTED = new Set(['http', 'ws'])

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
    if (call.checkInput !== false) assertFits(resolved, prepared.input)
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
      // Those that were given belong to whoever made them.
      if (!given) await transports.close()
    },
  }
}

/** What the agent would refuse is not sent: the error names every member at fault (AURI §7). */
function assertFits({ uri, capability, capabilityDetails }: ResolvedAgent, input: CallInput | undefined): void {
  const schema = capabilityDetails?.input
  if (schema === undefined || (input !== undefined && !isJson(input))) return
  const issues = schemas.check(schema, input ?? {})
  if (issues.length === 0) return
  const said = issues.map(({ at, message }) => (at === '' ? `the input ${message}` : `${at} ${message}`))
  throw new ClientError('invalid_input', `${capability} of ${uri.split('?')[0]}: ${said.join('; ')}`, {
    details: issues,
  })
}

/** Whether an output is what the descriptor promises; undefined if it promises nothing that can be checked. */
function matchesSchema(schema: JsonObject | undefined, output: Reply['output']): boolean | undefined {
  return schema === undefined || output instanceof Uint8Array ? undefined : schemas.check(schema, output).length === 0
}

const isJson = (input: CallInput): input is JsonValue =>
  isPlainInput(input) || !(input instanceof Uint8Array || input instanceof FormData)
