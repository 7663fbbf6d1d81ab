import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aidip, type Bench, startBench, startWeb } from './support/cli.js'

let bench: Bench
beforeAll(async () => {
  bench = await startBench()
})
afterAll(() => bench.close())

describe('switchboard crawl', () => {
  it('has a site read, lists it and forgets it with its agents', async () => {
    const site = await startWeb(({ url }, response) => {
      if (url !== '/.well-known/agent-card.json') return response.writeHead(404).end()
      return response.end(JSON.stringify(aidip('crawled')))
    })
    try {
      const read = await bench.cli('crawl', site.url)
      expect(read).toMatchObject({ code: 0, stdout: 'created   crawled\n', stderr: '' })
      expect((await bench.stranger('get', 'crawled')).code).toBe(0)
      const listed = await bench.cli('crawl', '--list', '--json')
      const [{ id, url }] = JSON.parse(listed.stdout)
      expect(url).toBe(`${site.url}/`)
      expect((await bench.cli('crawl', '--list')).stdout).toContain(site.url)
      expect(await bench.cli('crawl', '--remove', id)).toMatchObject({ code: 0, stdout: `removed ${id}\n` })
      expect((await bench.cli('crawl', '--list')).stdout).toBe('no sites\n')
      expect((await bench.stranger('get', 'crawled')).code).toBe(1)
    } finally {
      await site.close()
    }
  })

  it('reports a site without agents, goes on with the others, and exits with 1', async () => {
    const empty = await startWeb((_request, response) => response.writeHead(404).end())
    const site = await startWeb(({ url }, response) =>
      url === '/card.json' ? response.end(JSON.stringify(aidip('second'))) : response.writeHead(404).end(),
    )
    try {
      const answer = await bench.cli('crawl', empty.url, `${site.url}/card.json`)
      expect(answer).toMatchObject({ code: 1, stdout: 'created   second\n' })
      expect(answer.stderr).toContain(`${empty.url}: `)
      expect(answer.stderr).toContain('no agents were found')
    } finally {
      await empty.close()
      await site.close()
    }
  })

  it('says how it is used', async () => {
    expect(await bench.cli('crawl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('name at least one site'),
    })
    expect((await bench.cli('crawl', '--help')).stdout).toContain('switchboard crawl agents.example')
    expect((await bench.cli('crawl', '--list', '--remove')).code).toBe(2)
  })
})
