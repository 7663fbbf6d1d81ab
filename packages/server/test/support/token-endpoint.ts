import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '@switchboard/protocol'

/** One request for a token. */
export interface TokenRequest {
  readonly form: Readonly<Record<string, string>>
  readonly authorization: string | undefined
}

/** The token endpoint of an authorisation server on loopback, which issues opaque tokens. */
export interface TokenEndpoint {
  readonly url: string
  readonly requests: TokenRequest[]
  /** The tokens issued so far. */
  readonly issued: string[]
  /** Members that replace those of the default response. */
  response: JsonObject
  status: number
  /** Responds instead, if set. */
  intercept: ((response: ServerResponse) => void) | undefined
  /** Back to the default response, with no requests. */
  reset(): void
  close(): Promise<void>
}

export async function startTokenEndpoint(): Promise<TokenEndpoint> {
  let count = 0
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const form = Object.fromEntries(new URLSearchParams(body))
    endpoint.requests.push({ form, authorization: request.headers.authorization })
    if (endpoint.intercept) return endpoint.intercept(response)
    const token = `issued-${++count}`
    endpoint.issued.push(token)
    const members = { access_token: token, token_type: 'Bearer', expires_in: 3600, ...endpoint.response }
    response.writeHead(endpoint.status, { 'content-type': 'application/json' }).end(JSON.stringify(members))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const endpoint: TokenEndpoint = {
    url: `http://127.0.0.1:${port}/token`,
    requests: [],
    issued: [],
    response: {},
    status: 200,
    intercept: undefined,
    reset() {
      endpoint.requests.length = 0
      endpoint.issued.length = 0
      Object.assign(endpoint, { response: {}, status: 200, intercept: undefined })
    },
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
  return endpoint
}
