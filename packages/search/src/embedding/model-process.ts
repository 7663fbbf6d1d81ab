// The program that runs a model: `node model-process.js <folder>`, started by start-model-process.ts.
import { reasonOf } from './embedding-error.js'
import { openEncoder } from './encoder.js'
import { type Answer, type Question, toQuestion } from './model-messages.js'

/** Answers one question after the other. */
function runModel(folder: string, send: (answer: Answer) => void): void {
  const encoder = openEncoder(folder)

  async function embed(texts: Question): Promise<Answer> {
    const { encode } = await encoder
    const vectors: Float32Array[] = []
    for (const text of texts) vectors.push(await encode(text))
    return vectors
  }
  const answer = (texts: Question): Promise<void> => embed(texts).catch(reasonOf).then(send)

  let last = answer([])
  process.on('message', (message) => {
    const question = toQuestion(message)
    last = last.then(() => answer(question))
  })
}

// It ends when its parent ends or lets go of it. A signal to the whole group is for the parent, which may want texts
// embedded before it ends.
const end = (): void => process.exit()
process.once('disconnect', end)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})

const send = (answer: Answer): void => {
  process.send?.(answer, undefined, undefined, (error) => error && end())
}
const [, , folder = ''] = process.argv
if (process.connected) runModel(folder, send) // its parent may be gone already
