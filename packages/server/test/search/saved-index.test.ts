import { copyFileSync, cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@switchboard/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Settings } from '../../src/config/settings.js'
import { register, search } from '../aidip/requests.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { aidipAgent } from '../support/documents.js'

const WEATHER = aidipAgent({ id: 'weather', name: 'Rainer', description: 'Tells whether it will rain tomorrow.' })
const TRAINS = aidipAgent({ id: 'trains', name: 'Traveller', description: 'Plans trips through Italy by train.' })
const CHESS = aidipAgent({ id: 'chess', name: 'Grandmaster', description: 'Plays chess.' })

/** Of the engine in memory, also where the tests run on another one. */
const settingsOf = (data: string): Settings => ({ data, database: undefined, search: { engine: 'memory' } })

let folder: string
let data: string
let file: string
let directory: TestDirectory
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'switchboard-saved-index-'))
  data = join(folder, 'data')
  file = join(data, 'search-index.bin')
  directory = await startDirectory(settingsOf(data))
  await register(directory, WEATHER)
  await register(directory, TRAINS)
})
afterEach(async () => {
  await directory.close()
  rmSync(folder, { recursive: true })
})

/** What is found once everything is indexed. */
const find = async (query: string): Promise<string[]> => {
  await expect.poll(async () => (await directory.get('/health/ready')).json.index.pending).toBe(0)
  return search(directory, { query })
}

const update = async (document: JsonObject): Promise<void> => {
  expect((await directory.put('/agents/weather', { as: 'tokA', body: document })).status).toBe(200)
}

const correctionsOf = async (query: string) =>
  (await directory.post('/agents/search', { body: { query } })).headers.get('x-switchboard-corrected')

/** Stops the directory, does something to its files, and starts it again. */
const restartAfter = async (change: () => void): Promise<void> => {
  await directory.close()
  change()
  directory = await startDirectory(settingsOf(data))
}

describe('the saved index', () => {
  it('is written when the directory stops, for its user only, and the next start goes on from it', async () => {
    await restartAfter(() => expect(statSync(file).mode & 0o777).toBe(0o600))
    expect(await find('rain tomorrow')).toEqual(['weather'])
    await update({ ...WEATHER, description: 'Forecasts snow.' })
    await directory.delete('/agents/trains', { as: 'tokA' })
    await restartAfter(() => {})
    expect(await find('forecast snow')).toEqual(['weather'])
    expect(await find('trip through Italy by train')).toEqual([])
  })

  it('may be older than the store, as after a crash: what changed since is indexed', async () => {
    const old = join(folder, 'old.bin')
    expect(await correctionsOf('Itally')).toBe('Itally=italy')
    await restartAfter(() => copyFileSync(file, old))
    await register(directory, CHESS)
    await update({ ...WEATHER, description: 'Forecasts snow.' })
    await directory.delete('/agents/trains', { as: 'tokA' })
    await restartAfter(() => copyFileSync(old, file))
    expect(await find('play chess')).toEqual(['chess'])
    expect(await find('forecast snow')).toEqual(['weather'])
    expect(await find('rain tomorrow')).toEqual([])
    expect(await find('trip through Italy by train')).toEqual([])
    // No word is corrected to one that only the old documents had.
    expect(await correctionsOf('Itally')).toBeNull()
  })

  it('may be newer than the store, as after a restore from a backup', async () => {
    const backup = join(folder, 'backup')
    await restartAfter(() => cpSync(data, backup, { recursive: true }))
    await register(directory, CHESS)
    await directory.delete('/agents/trains', { as: 'tokA' })
    await restartAfter(() => {
      copyFileSync(file, join(backup, 'search-index.bin'))
      rmSync(data, { recursive: true })
      cpSync(backup, data, { recursive: true })
    })
    expect(await find('trip through Italy by train')).toEqual(['trains'])
    expect(await find('play chess')).toEqual([])
    // The revision that the lost agent had is assigned again, to another one.
    await register(directory, { ...CHESS, id: 'go', description: 'Plays Go.' })
    expect(await find('play go')).toEqual(['go'])
  })

  it.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['damaged', (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -40), Buffer.of(1), bytes.subarray(-39)])],
    ['something else', () => Buffer.from('{}')],
  ])('is not used if the file is %s: everything is indexed again', async (_, damage) => {
    await restartAfter(() => writeFileSync(file, damage(readFileSync(file))))
    expect(await find('rain tomorrow')).toEqual(['weather'])
    expect(await find('trip through Italy by train')).toEqual(['trains'])
    await restartAfter(() => expect(readFileSync(file).toString('latin1', 0, 8)).toBe('swbindex'))
  })
})
