import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../server/src/index.js'
import { temporaryFolder } from '../../../server/test/support/process.js'
import { createAuthority } from '../../../server/test/support/tls.js'
import { checkCertificate, checkClock, checkFolder, checkNode, checkPort, checkSpace, findDirectory } from './checks.js'

const folder = temporaryFolder()
afterAll(folder.remove)

const config = readConfig({}, {})

describe('switchboard doctor', () => {
  it.each([
    ['18.20.0', 'fail'],
    ['20.18.1', 'fail'],
    ['20.19.0', 'ok'],
    ['24.0.0', 'ok'],
  ])('knows whether Node %s is new enough: %s', (version, state) => {
    expect(checkNode(version).state).toBe(state)
  })

  it('names the program that uses the port', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address ? address.port : 0
    try {
      const finding = await checkPort({ ...config, port }, false)
      expect(finding).toMatchObject({ state: 'fail', remedy: expect.stringContaining('--port') })
      if (process.platform === 'linux') expect(finding.text).toContain(`(process ${process.pid})`)
      expect(await checkPort({ ...config, port }, true)).toMatchObject({ state: 'ok' })
    } finally {
      server.close()
    }
    expect(await checkPort({ ...config, host: '192.0.2.1' }, false)).toMatchObject({ state: 'fail' })
  })

  it('tells a free, a used and a damaged data folder apart', async () => {
    const check = (state: object, isRunning: boolean) =>
      checkFolder(folder.path, async () => ({ hasStore: true, isLocked: true, agents: 3, ...state }), isRunning)
    expect((await check({ hasStore: false }, false))[0]).toMatchObject({
      state: 'ok',
      text: expect.stringMatching(/will be created/),
    })
    expect((await check({ isLocked: false }, false))[0]).toMatchObject({
      state: 'ok',
      text: expect.stringMatching(/no server uses it/),
    })
    expect((await check({}, true))[0]).toMatchObject({ state: 'ok' })
    expect((await check({}, false))[0]).toMatchObject({ state: 'warn', text: expect.stringMatching(/none responds/) })
    const damaged = await checkFolder(folder.path, () => Promise.reject(new Error('damaged')), false)
    expect(damaged[0]).toMatchObject({ state: 'fail', text: 'damaged' })
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    const inFile = await checkFolder(join(file, 'data'), () => Promise.reject(new Error('not reached')), false)
    expect(inFile).toMatchObject([{ state: 'fail', text: `${file} is not a folder` }])
  })

  it('warns before the disk is full', () => {
    expect([50e6, 500e6, 5e9].map((bytes) => checkSpace('/x', bytes).state)).toEqual(['fail', 'warn', 'ok'])
  })

  it('looks at the dates and names of a certificate', () => {
    const authority = createAuthority(folder.path, 'doctor')
    const tls = { ...authority.issue('/CN=x', 'DNS:directory.example'), clientRequired: false }
    const at = (days: number, more = {}) =>
      checkCertificate({ ...config, tls, ...more }, Date.now() + days * 86_400_000)
    expect(checkCertificate(config).state).toBe('ok')
    expect(at(0)).toMatchObject({ state: 'warn', remedy: 'renew it soon' })
    expect(at(3)).toMatchObject({ state: 'fail', text: expect.stringContaining('expired') })
    expect(at(-3)).toMatchObject({ state: 'fail', remedy: expect.stringContaining('clock') })
    expect(at(-13, { publicUrl: 'https://other.example' }).state).toBe('fail')
    expect(at(0, { publicUrl: 'https://other.example' }).text).toContain('is not for other.example')
    expect(at(0, { publicUrl: 'https://directory.example' }).text).toContain('is valid until')
  })

  it('compares clocks', () => {
    expect(checkClock(undefined, '').state).toBe('ok')
    expect(checkClock(2000, 'the database').state).toBe('ok')
    expect(checkClock(-90_000, 'the database')).toMatchObject({
      state: 'fail',
      text: '90.0 s ahead of that of the database',
    })
  })

  it('notices that the URL is not that of a directory, or that none is running', async () => {
    expect((await findDirectory('http://127.0.0.1:1')).finding).toMatchObject({
      state: 'ok',
      text: 'none is running at http://127.0.0.1:1',
    })
  })
})
