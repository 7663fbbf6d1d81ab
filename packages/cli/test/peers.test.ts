import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aidip, type Bench, startBench, startWeb } from './support/cli.js'

let bench: Bench
let folder: string
beforeAll(async () => {
  bench = await startBench()
  folder = mkdtempSync(join(tmpdir(), 'switchboard-peers-'))
})
afterAll(async () => {
  await bench.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('switchboard peers', () => {
  it('adds a peer, shows and reviews its agents, and removes it', async () => {
    const tokens: (string | undefined)[] = []
    const peer = await startWeb(({ url, headers }, response) => {
      if (!url?.startsWith('/feed')) return response.writeHead(404).end()
      tokens.push(headers.authorization)
      const record = { id: 'copied', format: 'aidip', document: aidip('copied') }
      const page = { agents: [{ record, path: [] }], removed: [], full: true, more: false, cursor: 'x' }
      return response.end(JSON.stringify(page))
    })
    const tokenFile = join(folder, 'token')
    writeFileSync(tokenFile, 'secret-at-the-peer\n')
    try {
      const terms = ['--trust', 'quarantine', '--interval', '1', '--peer-token-file', tokenFile]
      expect(await bench.cli('peers', 'add', 'p', peer.url, ...terms)).toMatchObject({ code: 0, stdout: 'added p\n' })
      await expect
        .poll(async () => (await bench.cli('peers', 'quarantine')).stdout, { timeout: 30_000 })
        .toMatch(/copied +p +http/)
      expect(tokens[0]).toBe('Bearer secret-at-the-peer')
      const listed = await bench.cli('peers', 'list')
      expect(listed.stdout).toContain(peer.url)
      expect(listed.stdout).not.toContain('secret')
      const [document] = JSON.parse((await bench.cli('peers', 'list', '--json')).stdout)
      expect(document).toMatchObject({ name: 'p', trust: 'quarantine', has_token: true, agents: { quarantined: 1 } })
      expect((await bench.cli('peers', 'accept', 'copied')).stdout).toBe('accepted copied\n')
      const shown = await bench.stranger('get', 'copied')
      expect(shown.stdout).toMatch(new RegExp(`registered at +${peer.url}`))
      expect((await bench.cli('peers', 'reject', 'copied', '--peer', 'p')).stdout).toBe('rejected copied\n')
      expect((await bench.stranger('get', 'copied')).code).toBe(1)
      expect((await bench.cli('peers', 'change', 'p', '--trust', 'full')).stdout).toBe('changed p\n')
      expect((await bench.cli('peers', 'remove', 'p')).stdout).toBe('removed p\n')
      expect((await bench.cli('peers', 'list')).stdout).toBe('no peers\n')
    } finally {
      await peer.close()
    }
  })

  it('says how it is used', async () => {
    expect((await bench.cli('peers', '--help')).stdout).toContain('switchboard peers add acme')
    for (const wrong of [['peers'], ['peers', 'add', 'x'], ['peers', 'add', 'x', 'https://x.example', '--trust', 'y']])
      expect((await bench.cli(...wrong)).code).toBe(2)
    expect((await bench.cli('peers', 'remove', 'unknown')).code).toBe(1)
  })
})
