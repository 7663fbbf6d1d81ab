import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Answer } from 'dns-packet'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findDirectories } from '../../src/find-directories.node.js'
import { type DnsServer, startDnsServer } from './dns-server.js'

const DOMAIN = 'example.test'
const SERVICE = `_ad._tcp.${DOMAIN}`
const AD = { registration: '/ad/r', lookup: '/ad/l{?agent}', max_count: 100 }

let dns: DnsServer
let web: Server
let answer: RequestListener
let port: number

beforeEach(async () => {
  dns = await startDnsServer()
  answer = (_request, response) => response.end(JSON.stringify(AD))
  web = createServer((request, response) => answer(request, response)).listen(0, '127.0.0.1')
  await once(web, 'listening')
  port = (web.address() as AddressInfo).port
})
afterEach(async () => {
  await dns.close()
  web.closeAllConnections()
  web.close()
  await once(web, 'close')
})

/** The records of a directory that listens here. */
const directory = (name: string, txt: string[] = ['txtvers=1', 'path=/.well-known/ad', 'tls=0']): Answer[] => {
  const instance = `${name}.${SERVICE}`
  return [
    { type: 'PTR', name: SERVICE, ttl: 60, data: instance },
    { type: 'SRV', name: instance, ttl: 60, data: { priority: 0, weight: 0, port, target: 'localhost' } },
    { type: 'TXT', name: instance, ttl: 60, data: txt },
  ]
}
const find = () => findDirectories({ domain: DOMAIN, servers: [dns.address], timeoutMs: 2000 })

describe('findDirectories in a domain', () => {
  it('AD-3.2-01 finds a directory by its DNS records and reads what it offers', async () => {
    dns.records = directory('Switchboard', ['txtvers=1', 'path=/.well-known/ad', 'tls=0', 'version=1.2.3'])
    const requested: unknown[] = []
    answer = (request, response) => {
      requested.push([request.url, request.headers.authorization])
      response.end(JSON.stringify(AD))
    }
    expect(await find()).toEqual([
      {
        name: 'Switchboard',
        url: `http://localhost:${port}`,
        version: '1.2.3',
        addresses: [],
        offer: { registration: '/ad/r', lookup: '/ad/l{?agent}', maxCount: 100 },
      },
    ])
    expect(requested).toEqual([['/.well-known/ad', undefined]])
  })

  it('reads names with spaces and other letters', async () => {
    dns.records = directory('Büro im Keller')
    expect(await find()).toMatchObject([{ name: 'Büro im Keller', offer: { registration: '/ad/r' } }])
  })

  it('uses the URL of the TXT record, and lists several records of it once', async () => {
    dns.records = [
      ...directory('One', ['tls=1', `url=http://127.0.0.1:${port}/base/`]),
      ...directory('Two', ['tls=1', `URL=http://127.0.0.1:${port}/base`]),
    ]
    const found = await find()
    expect(found).toMatchObject([{ url: `http://127.0.0.1:${port}/base`, offer: { registration: '/ad/r' } }])
    expect(found).toHaveLength(1)
  })

  it('expects TLS unless the record says otherwise', async () => {
    dns.records = directory('Switchboard', [''])
    expect(await find()).toEqual([
      { name: 'Switchboard', url: `https://localhost:${port}`, addresses: [], problem: expect.any(String) },
    ])
  })

  it('finds none in a domain without such records', async () => {
    expect(await find()).toEqual([])
    dns.records = [{ type: 'PTR', name: SERVICE, ttl: 60, data: `Ghost.${SERVICE}` }]
    expect(await find()).toEqual([])
  })

  it.each([
    ['an error', 'status 500', (response) => response.writeHead(500).end()],
    ['something else', 'does not describe a directory', (response) => response.end('{"hello":"world"}')],
    ['no JSON', 'JSON', (response) => response.end('<html>')],
    ['a redirect', 'status 302', (response) => response.writeHead(302, { location: '/inside' }).end()],
    ['too much', 'more than 65536 bytes', (response) => response.end(' '.repeat(200_000))],
  ] as [string, string, (response: Parameters<RequestListener>[1]) => void][])(
    'says what is wrong with a directory that returns %s',
    async (_name, problem, send) => {
      answer = (_request, response) => send(response)
      dns.records = directory('Switchboard')
      expect(await find()).toMatchObject([
        { url: `http://localhost:${port}`, problem: expect.stringContaining(problem) },
      ])
    },
  )

  it('ignores records that lead nowhere', async () => {
    dns.records = [
      ...directory('A', ['url=file:///etc/passwd']),
      ...directory('B', ['tls=0', 'path=relative']),
      ...directory('C', ['url=https://user:secret@example.test/']),
    ]
    expect(await find()).toEqual([])
  })

  it('reports a DNS server that does not respond', async () => {
    const { address } = dns
    await dns.close()
    const searching = findDirectories({ domain: DOMAIN, servers: [address], timeoutMs: 200 })
    await expect(searching).rejects.toMatchObject({ code: 'unreachable' })
    dns = await startDnsServer()
  })

  it('asks the next server if one fails, and passes on what the last one says', async () => {
    dns.records = directory('Switchboard')
    const broken = await startDnsServer()
    broken.failure = 2
    try {
      const servers = [broken.address, dns.address]
      expect(await findDirectories({ domain: DOMAIN, servers })).toHaveLength(1)
      const searching = findDirectories({ domain: DOMAIN, servers: [broken.address] })
      await expect(searching).rejects.toThrow('answered with error 2')
    } finally {
      await broken.close()
    }
  })

  it('can be cancelled', async () => {
    const signal = AbortSignal.abort(new Error('enough'))
    await expect(findDirectories({ timeoutMs: 30_000, signal })).rejects.toThrow()
  })
})
