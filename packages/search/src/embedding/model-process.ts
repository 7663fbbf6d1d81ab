// The child process that runs a model: `node model-process.js <folder>`, started by start-model-process.ts.
import { reasonOf } from './embedding-error.js'
import { loadEncoder } from './encoder.js'
import { type EmbedRequest, type EmbedResponse, parseRequest } from './model-messages.js'

/** Handles requests one at a time. */
function runModel(folder: string, send: (response: EmbedResponse) => void): void {
  const encoder = loadEncoder(folder)

  async function embed(texts: EmbedRequest): Promise<EmbedResponse> {
    const { encode } = await encoder
    const vectors: Float32Array[] = []
    for (const text of texts) vectors.push(await encode(text))
    return vectors
  }
  const respond = (texts: EmbedRequest): Promise<void> => embed(texts).catch(reasonOf).then(send)

  let last = respond([])
  process.on('message', (message) => {
    const request = parseRequest(message)
    last = last.then(() => respond(request))
  })
}

// It exits when its parent exits or disconnects. Signals to the process group are left to the parent, which may need
// embeddings while it shuts down.
const exit = (): void => process.exit()
process.once('disconnect', exit)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})

const send = (response: EmbedResponse): void => {
  process.send?.(response, undefined, undefined, (error) => error && exit())
}
const [, , folder = ''] = process.argv
if (process.connected) runModel(folder, send) // the parent may already have exited
