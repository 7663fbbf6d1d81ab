import type { CallOptions, Credential, DirectoryCallOptions, Reply, StreamPart } from '@switchboard/client'
import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { command, type Options, type Values } from '../command/command.js'
import { openDirectory } from '../directory.js'
import { readInput } from '../documents/read-input.js'
import { readNumber } from '../read-number.js'
import { DIRECTORY_OPTIONS, readAgentKey, readAgentToken, readLocalSocket } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJson, printJsonLine, remark } from '../terminal/print.js'
import { printable, printableJson } from '../terminal/printable.js'
import { CommandError, UsageError } from '../usage.js'

const OPTIONS = {
  input: { type: 'string', value: 'INPUT', text: 'the whole input instead: JSON, @FILE, or - for stdin' },
  stream: { type: 'boolean', text: 'print the parts of the response as they arrive' },
  operation: { type: 'string', value: 'NAME', text: 'operation to call, if AGENT is an id' },
  version: { type: 'string', value: 'RANGE', text: 'version of the agent, such as ^3.0.0' },
  session: { type: 'string', value: 'ID', text: 'continue a session' },
  task: { type: 'string', value: 'ID', text: 'continue a task' },
  'idempotency-key': {
    type: 'string',
    value: 'KEY',
    text: 'calls with the same key run once, so that retrying is safe',
  },
  'search-id': {
    type: 'string',
    value: 'ID',
    text: 'id of the search that found AGENT, from which the directory learns',
  },
  timeout: {
    type: 'string',
    value: 'SECONDS',
    text: 'time limit for the response, or for the start of a stream (30)',
  },
  'agent-token': {
    type: 'string',
    value: 'TOKEN',
    text: 'token for the agent itself',
    variable: 'SWITCHBOARD_AGENT_TOKEN',
  },
  'agent-key': {
    type: 'string',
    value: 'KEY',
    text: 'the same for an agent that requires an API key',
    variable: 'SWITCHBOARD_AGENT_KEY',
  },
  'require-signature': { type: 'boolean', text: 'reject descriptors without a valid signature' },
  'allow-private': { type: 'boolean', text: 'allow private networks, and plain HTTP on this computer' },
  'socket-folder': {
    type: 'string',
    multiple: true,
    value: 'FOLDER',
    text: 'let agent+unix call the sockets in this folder by path',
  },
  'local-socket': {
    type: 'string',
    value: 'PATH',
    text: 'socket of the local runtime, for agent+local',
    variable: 'SWITCHBOARD_LOCAL_SOCKET',
  },
  ...DIRECTORY_OPTIONS,
} as const satisfies Options

type Flags = Values<typeof OPTIONS>

/** A call that is ready to be sent, directly or through the directory. */
interface PreparedCall {
  invoke(): Promise<Reply>
  stream(): AsyncIterable<StreamPart>
  close(): Promise<void>
}

export const call = command({
  summary: 'call an agent by URI or id, and print its response',
  usage: 'AGENT [NAME=TEXT|NAME:=JSON]…',
  about: `AGENT is an agent:// URI (also agent+https, agent+wss, agent+unix or agent+local), or the id of an agent in the directory. NAME=TEXT passes a string, NAME:=JSON any other value.`,
  options: OPTIONS,
  examples: [
    'switchboard call agent://planner.example.com/gen-iti city=Paris days:=3',
    `switchboard call translator --input '{"text":"Bonjour"}' --stream`,
  ],
  async run(values, [agent = '', ...pairs]) {
    const input = await readInput(values.input, pairs)
    const isUri = /^agent(\+[a-z0-9-]*)?:/i.test(agent)
    const prepared = isUri ? await callByUri(agent, input, values) : await callThroughDirectory(agent, input, values)
    try {
      if (!values.stream) await printReply(await prepared.invoke(), values.json === true)
      else for await (const part of prepared.stream()) await printPart(part, values.json === true)
    } finally {
      await prepared.close()
    }
    return 0
  },
})

/** Options of calls by URI and by id. */
function commonOptions(values: Flags): CallOptions & DirectoryCallOptions {
  const timeout = readNumber('--timeout', values.timeout, { least: 1, most: 86_400 })
  return {
    signal: untilInterrupted(),
    ...(values.version !== undefined && { version: values.version }),
    ...(values.session !== undefined && { sessionId: values.session }),
    ...(values.task !== undefined && { taskId: values.task }),
    ...(values['idempotency-key'] !== undefined && { idempotencyKey: values['idempotency-key'] }),
    ...(timeout !== undefined && { timeoutMs: timeout * 1000 }),
  }
}

async function callByUri(uri: string, input: JsonValue | undefined, values: Flags): Promise<PreparedCall> {
  if (values.operation !== undefined) {
    throw new UsageError('--operation is only for ids: a URI has the operation in its path')
  }
  if (values['search-id'] !== undefined) throw new UsageError('--search-id is only for ids of agents in the directory')
  const credentials = readCredentials(values)
  const { createCaller } = await import('@switchboard/client')
  const caller = createCaller({
    localSocket: await readLocalSocket(values['local-socket']),
    ...(values['socket-folder'] && { socketFolders: values['socket-folder'] }),
    ...(values['require-signature'] && { requireSignature: true }),
    ...(values['allow-private'] && { allowPrivate: true, httpLoopback: true }),
    ...(credentials && { credentials }),
  })
  const { delegationChain: _none, ...options } = commonOptions(values)
  return {
    invoke: () => caller.invoke(uri, input, options),
    stream: () => caller.stream(uri, input, options),
    close: () => caller.close(),
  }
}

async function callThroughDirectory(id: string, input: JsonValue | undefined, values: Flags): Promise<PreparedCall> {
  const directory = await openDirectory(values)
  const credentials = readCredentials(values)
  const options: DirectoryCallOptions = {
    ...commonOptions(values),
    ...(values.operation !== undefined && { operation: values.operation }),
    ...(values['search-id'] !== undefined && { searchId: values['search-id'] }),
    ...(credentials && { credentials }),
  }
  return {
    invoke: () => directory.invoke(id, input ?? {}, options),
    stream: () => directory.stream(id, input ?? {}, options),
    close: async () => {},
  }
}

/** The caller's credential for the agent, if any. */
function readCredentials(values: Flags): Credential | undefined {
  const key = readAgentKey(values['agent-key'])
  if (key !== undefined) return { type: 'api_key', key }
  const token = readAgentToken(values['agent-token'])
  return token === undefined ? undefined : { type: 'bearer', token }
}

async function printReply(reply: Reply, asJson: boolean): Promise<void> {
  const { output, contentType, status, version, sessionId, outputValid, warnings } = reply
  if (output instanceof Uint8Array) return printBytes(output, contentType, asJson)
  if (asJson) {
    const result: JsonObject = {
      output,
      status,
      contentType,
      ...(version !== undefined && { version }),
      ...(sessionId !== undefined && { sessionId }),
      ...(outputValid !== undefined && { outputValid }),
      warnings: [...warnings],
    }
    return printJson(result)
  }
  for (const warning of warnings) remark(`warning: ${warning}`)
  if (outputValid === false) remark('warning: the output does not match the agent’s schema')
  await print(`${typeof output === 'string' ? printable(output) : printableJson(output, 2)}\n`)
}

/** Writes binary output to files and pipes, but not to a terminal. */
async function printBytes(bytes: Uint8Array, contentType: string, asJson: boolean): Promise<void> {
  if (asJson) return printJson({ contentType, base64: Buffer.from(bytes).toString('base64') })
  if (process.stdout.isTTY && !contentType.startsWith('text/')) {
    throw new CommandError(
      `the output is ${bytes.byteLength} bytes of ${contentType}: redirect it to a file with > FILE`,
    )
  }
  await print(process.stdout.isTTY ? printable(Buffer.from(bytes).toString('utf8')) : bytes)
}

async function printPart({ data, event, id }: StreamPart, asJson: boolean): Promise<void> {
  if (asJson) return printJsonLine({ data, ...(event && { event }), ...(id && { id }) })
  await print(`${typeof data === 'string' ? printable(data) : printableJson(data)}\n`)
}
