import { realpath } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { dirname, isAbsolute, normalize, sep } from 'node:path'
import { ClientError } from '../../errors.js'

/** Bytes of all headers of an answer. */
const MAX_HEADER_BYTES = 64 * 1024

/** A fetch whose requests go through a Unix socket, whatever host their URL names. */
export function createUnixFetch(socketPath: string): typeof fetch {
  return async (input, init) => {
    const asked = new Request(input, init)
    const { pathname, search } = new URL(asked.url)
    // Inputs of agents are whole values, so their length is known and no agent has to understand chunks.
    const body = asked.body === null ? undefined : Buffer.from(await asked.arrayBuffer())
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request({
        socketPath,
        method: asked.method,
        path: pathname + search,
        headers: {
          ...Object.fromEntries(asked.headers),
          host: 'localhost',
          ...(body !== undefined && { 'content-length': String(body.byteLength) }),
        },
        // A socket is a file of this computer: a connection costs nothing, and none outlives its call.
        agent: false,
        maxHeaderSize: MAX_HEADER_BYTES,
        signal: asked.signal,
      })
      sent.on('response', resolve).on('error', reject).end(body)
    })
    return toResponse(answer)
  }
}

const NO_BODY = new Set([204, 205, 304])

function toResponse(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 0
  const headers = new Headers()
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const hasBody = !NO_BODY.has(status)
  if (!hasBody) answer.resume()
  return new Response(hasBody ? toStream(answer) : null, { status, headers })
}

/** As much is read as is asked for, and leaving early closes the socket. */
function toStream(answer: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = answer[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(new Uint8Array(value))
    },
    async cancel() {
      answer.destroy()
    },
  })
}

/**
 * The socket's path as the system knows it, if it lies in one of the folders; links are followed before they are
 * compared, so that none leads out (C-81).
 */
export async function assertAllowedSocket(path: string, folders: readonly string[]): Promise<string> {
  if (!isAbsolute(path) || normalize(path) !== path) {
    throw new ClientError('invalid_uri', `a socket is named by an absolute path without "..": ${path}`)
  }
  const target = await realpath(path).catch((error: unknown) => {
    throw new ClientError('not_found', `there is no socket ${path}`, { cause: error })
  })
  const allowed = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)))
  const isInside = allowed.some(
    (folder) => folder !== undefined && `${dirname(target)}${sep}`.startsWith(`${folder}${sep}`),
  )
  if (isInside) return target
  throw new ClientError(
    'permission_denied',
    `sockets may be called in ${folders.join(', ') || 'no folder'} only: name the folder of ${path} in socketFolders`,
  )
}
