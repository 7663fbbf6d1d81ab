// Embeds texts with the built-in model and caches the vectors in a folder.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBuiltInEmbedder } from '../../packages/search/dist/embedding/built-in-embedder.js'

const BATCH = 256

/** Embeds the texts, or reads their vectors from the cache; returns a lookup by text. */
export async function embedAll(texts, folder, report = () => {}) {
  const embedder = await createBuiltInEmbedder()
  try {
    const unique = [...new Set(texts)]
    const hash = createHash('sha256').update(embedder.id).update(JSON.stringify(unique)).digest('hex')
    const file = join(folder, `${hash.slice(0, 24)}.f32`)
    const vectors = existsSync(file) ? readFloats(file) : await embedUnique(embedder, unique, report)
    if (!existsSync(file)) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(file, new Uint8Array(vectors.buffer))
    }
    const positions = new Map(unique.map((text, position) => [text, position]))
    const size = embedder.dimensions
    return (text) => {
      const position = positions.get(text)
      if (position === undefined) throw new Error(`not embedded: ${text}`)
      return vectors.subarray(position * size, (position + 1) * size)
    }
  } finally {
    await embedder.close()
  }
}

async function embedUnique(embedder, texts, report) {
  const vectors = new Float32Array(texts.length * embedder.dimensions)
  for (let from = 0; from < texts.length; from += BATCH) {
    const batch = await embedder.embed(texts.slice(from, from + BATCH))
    batch.forEach((vector, i) => {
      vectors.set(vector, (from + i) * embedder.dimensions)
    })
    report(Math.min(from + BATCH, texts.length), texts.length)
  }
  return vectors
}

function readFloats(file) {
  const bytes = readFileSync(file)
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))
}
