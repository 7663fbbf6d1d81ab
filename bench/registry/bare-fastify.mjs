// Fastify routes that only serialise a prepared object.
// node bare-fastify.mjs PORT FILE, with a file {"agents": {id: response}, "lookups": {url: response}}.
import { readFileSync } from 'node:fs'
import { Fastify } from './server-modules.mjs'

const [port, file] = process.argv.slice(2)
const { agents, lookups } = JSON.parse(readFileSync(file, 'utf8'))
const byId = new Map(Object.entries(agents))
const byUrl = new Map(Object.entries(lookups))

const text = { type: 'string' }
const texts = { type: 'array', items: text }
const schema = {
  type: 'object',
  properties: {
    id: text,
    name: text,
    description: text,
    version: text,
    publisher: text,
    capabilities: texts,
    tags: texts,
    endpoint: text,
    protocols: texts,
    supported_languages: texts,
  },
  additionalProperties: true,
}

const app = Fastify({ routerOptions: { maxParamLength: 8192 } })
app.post('/agents', (request, reply) => reply.code(201).send(request.body))
app.get('/agents/:id', (request, reply) => reply.send(byId.get(request.params.id)))
app.get('/with-schema/:id', { schema: { response: { 200: schema } } }, (request, reply) =>
  reply.send(byId.get(request.params.id)),
)
app.get('/ad/l', (request, reply) => reply.send(byUrl.get(request.url)))
process.stdout.write(`bare ready on ${await app.listen({ port: Number(port) })}\n`)
