// @fastify/http-proxy: node bare-fastify-proxy.mjs PORT UPSTREAM_PORT.
import proxy from '@fastify/http-proxy'
import { Fastify } from '../registry/server-modules.mjs'

const [port, upstream] = process.argv.slice(2)
const app = Fastify()
// As many connections as concurrent calls, like all other servers here.
app.register(proxy, { upstream: `http://127.0.0.1:${upstream}`, undici: { connections: null, pipelining: 1 } })
process.stdout.write(`proxy ready on ${await app.listen({ host: '127.0.0.1', port: Number(port) })}\n`)
