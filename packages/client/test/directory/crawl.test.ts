import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startDirectory, type TestDirectory } from '../../../server/test/support/directory.js'
import { createCrawlClient } from '../../src/index.js'

let directory: TestDirectory
const card = {
  ...{
    id: 'crawled',
    name: 'Crawled',
    description: 'Was found.',
    endpoint: 'http://127.0.0.1:9/',
    capabilities: ['x'],
  },
  ...{ inputs: {}, outputs: {} },
}
const web = createServer((request, response) =>
  request.url === '/card.json' ? response.end(JSON.stringify(card)) : response.writeHead(404).end(),
)
let url: string
beforeAll(async () => {
  directory = await startDirectory({ crawl: { pauseMs: 0 } })
  web.listen(0, '127.0.0.1')
  await once(web, 'listening')
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/card.json`
})
afterAll(async () => {
  await directory.close()
  web.closeAllConnections()
  web.close()
})

it('has a site crawled, lists it and removes it', async () => {
  const sites = createCrawlClient({ baseUrl: directory.url, token: directory.adminKey })
  const crawled = await sites.crawl(url)
  expect(crawled).toMatchObject({
    url,
    state: 'read',
    agents: [{ url, agent: 'crawled', status: 'created' }],
    crawledAt: expect.any(String),
    nextAt: expect.any(String),
  })
  expect(await sites.list()).toEqual([crawled])
  await sites.remove(crawled.id)
  expect(await sites.list()).toEqual([])
  await expect(sites.crawl('http://10.0.0.1/')).rejects.toMatchObject({ code: 'invalid_input' })
})
