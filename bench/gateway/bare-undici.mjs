// A minimal proxy on Node: node bare-undici.mjs PORT UPSTREAM_PORT.
import { createServer } from 'node:http'
import { Pool } from 'undici'

const [port, upstream] = process.argv.slice(2)
const pool = new Pool(`http://127.0.0.1:${upstream}`)

const pass = ({ statusCode, headers, opaque }) => {
  opaque.writeHead(statusCode, headers)
  return opaque
}

const server = createServer((request, response) => {
  const { method, url, headers } = request
  pool.stream({ method, path: url, headers, body: request, opaque: response }, pass).catch(() => response.destroy())
})
server.listen(Number(port), '127.0.0.1', () => process.stdout.write(`undici ready on ${port}\n`))
