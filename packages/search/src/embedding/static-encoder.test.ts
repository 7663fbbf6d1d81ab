import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { builtInStaticEncoder, loadStaticEncoder } from './static-encoder.js'

const MODEL_FOLDER = fileURLToPath(new URL('../../static-model', import.meta.url))

const cosine = (a: Float32Array, b: Float32Array): number => {
  const dot = (x: Float32Array, y: Float32Array) => x.reduce((sum, value, i) => sum + value * (y[i] ?? 0), 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

describe('the built-in static encoder', () => {
  const { encode, dimensions } = builtInStaticEncoder()

  it('encodes texts of similar meaning close to each other, even without a common word', () => {
    const query = encode('rain and snow tomorrow')
    const weather = cosine(query, encode('Weather forecasts for any city'))
    const bills = cosine(query, encode('Reads bills and enters them into the books'))
    expect(weather).toBeGreaterThan(0.2)
    expect(weather).toBeGreaterThan(bills + 0.15)
  })

  it('splits identifiers and ignores case and punctuation, like the word index', () => {
    const plain = encode('get weather forecast')
    for (const text of [
      'getWeatherForecast',
      'get_weather_forecast',
      'GET: weather—forecast!',
      'Get Ｗeather forecast',
    ])
      expect(encode(text)).toEqual(plain)
  })

  it('returns the zero vector for texts without a known word', () => {
    for (const text of ['', '...', 'zzqqxxvv', '天气预报']) expect(encode(text)).toEqual(new Float32Array(dimensions))
  })

  it('has the weights that its manifest names', () => {
    const manifest = JSON.parse(readFileSync(join(MODEL_FOLDER, 'manifest.json'), 'utf8'))
    const hash = createHash('sha256')
    for (const name of ['words.txt', 'vectors.bin']) hash.update(readFileSync(join(MODEL_FOLDER, name)))
    expect(hash.digest('hex')).toBe(manifest.sha256)
    expect(manifest.sources.every(({ license }: { license?: string }) => license)).toBe(true)
  })
})

describe('loadStaticEncoder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'static-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  it('adds up the scaled codes of the words', () => {
    writeFileSync(join(folder, 'manifest.json'), '{"id":"tiny","dimensions":2}')
    writeFileSync(join(folder, 'words.txt'), 'red\nblue\n')
    writeFileSync(join(folder, 'vectors.bin'), Buffer.concat([Buffer.from([1, 2, 4, 0xff]), floats(0.5, 2)]))
    expect([...loadStaticEncoder(folder).encode('Red blue RED')]).toEqual([9, 0])
  })

  it('names the folder and the reason if the files are missing or do not fit', () => {
    writeFileSync(join(folder, 'words.txt'), 'red\nblue\ngreen\n')
    expect(() => loadStaticEncoder(folder)).toThrow(`${folder}: vectors.bin does not fit words.txt`)
    expect(() => loadStaticEncoder(join(folder, 'none'))).toThrow(/cannot read the static embedding in .*ENOENT/)
  })
})

const floats = (...values: number[]): Buffer => Buffer.from(Float32Array.from(values).buffer)
