// The agents that the directory calls, in a process of their own. The first segment of the path says how one responds.
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** A response whose JSON is `depth` arrays deep and has many empty arrays. */
const deep = (depth) => '['.repeat(depth) + ']'.repeat(depth)
const wide = (count) => `[${Array.from({ length: count }, () => '[]').join(',')}]`

const json = (response, text, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)

const RESPONSES = {
  echo: (response, body) => json(response, body.length > 0 ? body : '{}'),
  large: (response) => json(response, JSON.stringify({ text: 'x'.repeat(4 << 20) })),
  deep: (response) => json(response, deep(200_000)),
  wide: (response) => json(response, wide(400_000)),
  refuse: (response) => json(response, '{"error":{"code":"no","message":"no"}}', 401),
  // An agent's 500 is passed on, and could not be told from one of the directory.
  crash: (response) => json(response, 'at Object.<anonymous> (/secret/path.js:1:1)', 502),
  cut: (response) => response.destroy(),
  hang: () => {},
  async stream(response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let part = 0; part < 20 && !response.destroyed; part++) {
      response.write(`data: {"part":${part}}\n\n`)
      await sleep(5)
    }
    response.end()
  },
  async flood(response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let part = 0; part < 2000 && !response.destroyed; part++) {
      if (!response.write(`data: {"text":"${'y'.repeat(1000)}"}\n\n`)) await sleep(1)
    }
    response.end()
  },
}

/** How agents may respond. */
export const AGENT_KINDS = Object.keys(RESPONSES)

if (process.send) {
  const server = createServer(async (request, response) => {
    const chunks = []
    try {
      for await (const chunk of request) chunks.push(chunk)
    } catch {
      return // the directory has given up
    }
    const [, kind] = request.url.split('/')
    await RESPONSES[kind]?.(response, Buffer.concat(chunks))
  })
  server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
  process.on('disconnect', () => process.exit())
}
