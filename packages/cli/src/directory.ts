import { ClientError, createClient, type DirectoryClient, readProblem } from '@switchboard/client'
import { isObject, type JsonObject, type JsonValue, parseJson } from '@switchboard/protocol'
import { type DirectorySettings, readDirectorySettings } from './settings.js'

/** A directory, with what operators ask of it besides. */
export interface Directory extends DirectoryClient {
  /** A request of the administration; the answer's body, or an empty object. */
  administer(method: string, path: string, body?: JsonValue): Promise<JsonObject>
  /** Sends lines of JSON, and gives the lines of the answer as they come. */
  importLines(lines: AsyncIterable<string>, signal: AbortSignal): AsyncGenerator<JsonObject>
}

const TIMEOUT_MS = 30_000

export function openDirectory(flags: {
  readonly url?: string | undefined
  readonly token?: string | undefined
}): Directory {
  const settings = readDirectorySettings(flags)
  const { url, token } = settings
  // Refuses to send a key over plain HTTP off this computer, which holds for what is sent below as well.
  const client = createClient({ baseUrl: url, ...(token !== undefined && { token }) })
  const send = createSend(settings)
  return {
    ...client,
    async administer(method, path, body) {
      const payload = body === undefined ? {} : { body: JSON.stringify(body) }
      const type = body === undefined ? undefined : 'application/json'
      const response = await send(method, path, type, { ...payload, signal: AbortSignal.timeout(TIMEOUT_MS) })
      const text = await response.text()
      const value = text === '' ? {} : parseJson(text)
      return isObject(value) ? value : {}
    },
    async *importLines(lines, signal) {
      const body = ReadableStream.from(encoded(lines))
      const response = await send('POST', '/admin/import', 'application/x-ndjson', { body, duplex: 'half', signal })
      for await (const line of linesOf(response)) {
        const value = parseJson(line)
        if (isObject(value)) yield value
      }
    },
  }
}

type Send = (method: string, path: string, type: string | undefined, init: RequestInit) => Promise<Response>

function createSend({ url, token }: DirectorySettings): Send {
  return async (method, path, type, init) => {
    const headers = {
      accept: 'application/json',
      ...(type !== undefined && { 'content-type': type }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    }
    const target = url.replace(/\/+$/, '') + path
    const response = await fetch(target, { ...init, method, headers, redirect: 'error' }).catch((cause: unknown) => {
      throw new ClientError('unreachable', `${new URL(url).host} does not answer`, { cause })
    })
    if (response.ok) return response
    throw await toError(response)
  }
}

const CODES = { 401: 'unauthorized', 403: 'permission_denied', 404: 'not_found', 429: 'rate_limited' } as const

async function toError(response: Response): Promise<ClientError> {
  const { status } = response
  const said = await response.json().then(readProblem, () => undefined)
  const code = Object.entries(CODES).find(([word]) => word === String(status))?.[1]
  const other = status >= 500 ? 'remote_error' : 'invalid_input'
  return new ClientError(code ?? other, said?.message ?? `the directory answers ${status}`, { status })
}

async function* encoded(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  for await (const line of lines) yield encoder.encode(`${line}\n`)
}

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  if (!body) return
  let rest = ''
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    yield* lines.filter((line) => line !== '')
  }
  if (rest !== '') yield rest
}
