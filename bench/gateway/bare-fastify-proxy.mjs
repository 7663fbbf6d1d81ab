// The proxy that Fastify has: node bare-fastify-proxy.mjs PORT UPSTREAM_PORT.
import proxy from '@fastify/http-proxy'
import { Fastify } from '../registry/server-modules.mjs'

const [port, upstream] = process.argv.slice(2)
const app = Fastify()
// As many connections as there are calls, as everywhere else here.
app.register(proxy, { upstream: `http://127.0.0.1:${upstream}`, undici: { connections: null, pipelining: 1 } })
process.stdout.write(`proxy ready on ${await app.listen({ host: '127.0.0.1', port: Number(port) })}\n`)
