import { parseArgs } from 'node:util'
import {
  type CallOptions,
  createCaller,
  type DirectoryCallOptions,
  type Reply,
  type StreamPart,
} from '@switchboard/client'
import type { JsonObject, JsonValue } from '@switchboard/protocol'
import { openDirectory } from '../directory.js'
import { readInput } from '../documents/read-input.js'
import { readNumber } from '../read-number.js'
import { DIRECTORY_FLAGS, DIRECTORY_HELP, readAgentToken, readLocalSocket } from '../settings.js'
import { untilInterrupted } from '../terminal/interruption.js'
import { print, printJson, printJsonLine, remark } from '../terminal/print.js'
import { printable, printableJson } from '../terminal/printable.js'
import { CommandError, UsageError } from '../usage.js'

const HELP = `switchboard call: call an agent and print its response

  switchboard call AGENT [NAME=TEXT | NAME:=JSON]…

AGENT is an agent:// URI (also agent+https, agent+wss, agent+unix or agent+local), or the id of an agent in the directory.
NAME=TEXT passes a string, NAME:=JSON any other value.

  --input INPUT          the whole input instead: JSON, @FILE, or - for stdin
  --stream               print the parts of the response as they arrive
  --operation NAME       operation to call, if AGENT is an id
  --version RANGE        version of the agent, such as ^3.0.0
  --session ID           continue a session
  --task ID              continue a task
  --idempotency-key KEY  calls with the same key run once, so that retrying is safe
  --search-id ID         id of the search that found AGENT, from which the directory learns
  --timeout SECONDS      time limit for the response, or for the start of a stream (30)
  --agent-token TOKEN    token for the agent itself; SWITCHBOARD_AGENT_TOKEN
  --require-signature    reject descriptors without a valid signature
  --allow-private        allow private networks, and plain HTTP on this computer
  --socket-folder FOLDER let agent+unix call the sockets in this folder by path; repeatable
  --local-socket PATH    socket of the local runtime, for agent+local; SWITCHBOARD_LOCAL_SOCKET
${DIRECTORY_HELP}

Examples:
  switchboard call agent://planner.example.com/gen-iti city=Paris days:=3
  switchboard call translator --input '{"text":"Bonjour"}' --stream
`

const FLAGS = {
  ...DIRECTORY_FLAGS,
  input: { type: 'string' },
  stream: { type: 'boolean' },
  operation: { type: 'string' },
  version: { type: 'string' },
  session: { type: 'string' },
  task: { type: 'string' },
  'idempotency-key': { type: 'string' },
  'search-id': { type: 'string' },
  timeout: { type: 'string' },
  'agent-token': { type: 'string' },
  'require-signature': { type: 'boolean' },
  'allow-private': { type: 'boolean' },
  'socket-folder': { type: 'string', multiple: true },
  'local-socket': { type: 'string' },
} as const

const readFlags = (args: string[]) => parseArgs({ args, allowPositionals: true, options: FLAGS })
type Flags = ReturnType<typeof readFlags>['values']

/** A call that is ready to be sent, directly or through the directory. */
interface PreparedCall {
  invoke(): Promise<Reply>
  stream(): AsyncIterable<StreamPart>
  close(): Promise<void>
}

export async function call(args: string[]): Promise<number> {
  const { values, positionals } = readFlags(args)
  if (values.help) {
    await print(HELP)
    return 0
  }
  const [agent, ...pairs] = positionals
  if (agent === undefined) throw new UsageError('name an agent: switchboard call AGENT [NAME=TEXT…]')
  const input = await readInput(values.input, pairs)
  const isUri = /^agent(\+[a-z0-9-]*)?:/i.test(agent)
  const prepared = isUri ? await callByUri(agent, input, values) : callThroughDirectory(agent, input, values)
  try {
    if (!values.stream) await printReply(await prepared.invoke(), values.json === true)
    else for await (const part of prepared.stream()) await printPart(part, values.json === true)
  } finally {
    await prepared.close()
  }
  return 0
}

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
  const token = readAgentToken(values['agent-token'])
  const caller = createCaller({
    localSocket: await readLocalSocket(values['local-socket']),
    ...(values['socket-folder'] && { socketFolders: values['socket-folder'] }),
    ...(values['require-signature'] && { requireSignature: true }),
    ...(values['allow-private'] && { allowPrivate: true, httpLoopback: true }),
    ...(token !== undefined && { credentials: { type: 'bearer' as const, token } }),
  })
  const { delegationChain: _none, ...options } = commonOptions(values)
  return {
    invoke: () => caller.invoke(uri, input, options),
    stream: () => caller.stream(uri, input, options),
    close: () => caller.close(),
  }
}

function callThroughDirectory(id: string, input: JsonValue | undefined, values: Flags): PreparedCall {
  const directory = openDirectory(values)
  const token = readAgentToken(values['agent-token'])
  const options: DirectoryCallOptions = {
    ...commonOptions(values),
    ...(values.operation !== undefined && { operation: values.operation }),
    ...(values['search-id'] !== undefined && { searchId: values['search-id'] }),
    ...(token !== undefined && { credentials: { type: 'bearer', token } }),
  }
  return {
    invoke: () => directory.invoke(id, input ?? {}, options),
    stream: () => directory.stream(id, input ?? {}, options),
    close: async () => {},
  }
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
