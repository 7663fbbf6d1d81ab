// A minimal start: parses every document of the same database into a map, then listens.
// node bare-start.mjs PORT DATABASE
import { Database, Fastify } from './server-modules.mjs'

const [port, file] = process.argv.slice(2)
const db = new Database(file, { readonly: true })
const documents = new Map()
for (const { id, document } of db.prepare('SELECT id, document FROM agents').iterate()) {
  documents.set(id, JSON.parse(document))
}
const app = Fastify()
app.get('/agents/:id', (request, reply) => reply.send(documents.get(request.params.id)))
process.stdout.write(`bare ready on ${await app.listen({ port: Number(port) })}\n`)
