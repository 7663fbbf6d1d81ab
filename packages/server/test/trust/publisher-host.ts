import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { didKeyOf, type SigningKey } from '@switchboard/protocol'
import { exportJWK, generateKeyPair, type JWK } from 'jose'

/** A host of a publisher on this machine: what it serves by path, and the requests it receives. */
export interface PublisherHost {
  readonly url: string
  /** `127.0.0.1:port`. */
  readonly authority: string
  /** Bodies by path: text as it is, other values as JSON. Other paths return 404. */
  pages: Record<string, unknown>
  readonly requests: string[]
  /** Their methods, in the same order. */
  readonly methods: string[]
  /** Default: 200, or 404 for unknown paths. */
  status: number | undefined
  close(): Promise<void>
}

export async function startPublisherHost(): Promise<PublisherHost> {
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    host.requests.push(path)
    host.methods.push(request.method ?? '')
    const page = host.pages[path]
    response.statusCode = host.status ?? (page === undefined ? 404 : 200)
    response.end(typeof page === 'string' ? page : JSON.stringify(page ?? {}))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const host: PublisherHost = {
    url: `http://127.0.0.1:${port}`,
    authority: `127.0.0.1:${port}`,
    pages: {},
    requests: [],
    methods: [],
    status: undefined,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return host
}

/** A key pair for signing documents. */
export interface TestSigner {
  readonly publicJwk: JWK
  /** The `did:key` of the public key. */
  readonly did: string
  /** The private key under an id; default: the DID URL of its did:key. */
  key(id?: string): SigningKey
}

export async function createSigner(): Promise<TestSigner> {
  const pair = await generateKeyPair('EdDSA', { extractable: true })
  const publicJwk = await exportJWK(pair.publicKey)
  const privateJwk = await exportJWK(pair.privateKey)
  const did = didKeyOf(publicJwk)
  return { publicJwk, did, key: (id = `${did}#${did.slice('did:key:'.length)}`) => ({ id, jwk: privateJwk }) }
}
