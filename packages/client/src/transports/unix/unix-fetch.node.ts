import { realpath } from 'node:fs/promises'
import { type IncomingMessage, request } from 'node:http'
import { dirname, isAbsolute, normalize, sep } from 'node:path'
import { ClientError } from '../../errors.js'

/** Maximum bytes of all response headers. */
const MAX_HEADER_BYTES = 64 * 1024

/** A `fetch` that sends all requests over a Unix socket and ignores the host of the URL. */
export function createUnixFetch(socketPath: string): typeof fetch {
  return async (input, init) => {
    const wanted = new Request(input, init)
    const { pathname, search } = new URL(wanted.url)
    // Inputs are complete values, so send Content-Length: not every agent understands chunked encoding.
    const body = wanted.body === null ? undefined : Buffer.from(await wanted.arrayBuffer())
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request({
        socketPath,
        method: wanted.method,
        path: pathname + search,
        headers: {
          ...Object.fromEntries(wanted.headers),
          host: 'localhost',
          ...(body !== undefined && { 'content-length': String(body.byteLength) }),
        },
        // Connections to a local socket are cheap: open one per call and keep none.
        agent: false,
        maxHeaderSize: MAX_HEADER_BYTES,
        signal: wanted.signal,
      })
      outgoing.on('response', resolve).on('error', reject).end(body)
    })
    return toResponse(incoming)
  }
}

const NO_BODY = new Set([204, 205, 304])

function toResponse(incoming: IncomingMessage): Response {
  const status = incoming.statusCode ?? 0
  const headers = new Headers()
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  const hasBody = !NO_BODY.has(status)
  if (!hasBody) incoming.resume()
  return new Response(hasBody ? toStream(incoming) : null, { status, headers })
}

/** Reads on demand; cancelling closes the socket. */
function toStream(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = incoming[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(new Uint8Array(value))
    },
    async cancel() {
      incoming.destroy()
    },
  })
}

/**
 * The real path of the socket, if it is in one of the folders. Symbolic links are resolved first, so that none leads
 * out of them (C-81).
 */
export async function assertAllowedSocket(path: string, folders: readonly string[]): Promise<string> {
  if (!isAbsolute(path) || normalize(path) !== path) {
    throw new ClientError('invalid_uri', `the path of a socket must be absolute and without "..": ${path}`)
  }
  const target = await realpath(path).catch((error: unknown) => {
    throw new ClientError('not_found', `there is no socket at ${path}`, { cause: error })
  })
  const allowed = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)))
  const isInside = allowed.some(
    (folder) => folder !== undefined && `${dirname(target)}${sep}`.startsWith(`${folder}${sep}`),
  )
  if (isInside) return target
  throw new ClientError(
    'permission_denied',
    `${path} is in none of the allowed socket folders (${folders.join(', ') || 'none'}): add its folder to socketFolders`,
  )
}
