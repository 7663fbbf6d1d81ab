import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aidipAgent, fixture } from './support/documents.js'
import { startIssuer, type TestIssuer } from './support/issuer.js'
import { ADMIN_KEY, startServer, temporaryFolder } from './support/process.js'

const folder = temporaryFolder()
let issuer: TestIssuer
beforeAll(async () => {
  issuer = await startIssuer()
  const config = { issuers: [issuer.trust] }
  writeFileSync(join(folder.path, 'with-model.json'), JSON.stringify(config))
  writeFileSync(join(folder.path, 'without-model.json'), JSON.stringify({ ...config, search: { embedder: 'none' } }))
})
afterAll(async () => {
  await issuer.close()
  folder.remove()
})

/** Runs a server with this log level, sends it requests, stops it, and returns its log. The embedding model is another process. */
async function logOf(
  level: string,
  sendRequests: (url: string) => Promise<void>,
  model: 'with-model' | 'without-model' = 'without-model',
): Promise<string> {
  const config = join(folder.path, `${model}.json`)
  const server = await startServer(['--data', join(folder.path, level), '--log-level', level, '--config', config])
  try {
    await sendRequests(server.url)
  } finally {
    await server.stop()
  }
  return server.stderr()
}

const send = (url: string, path: string, headers: Record<string, string>, body?: unknown): Promise<Response> =>
  fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

describe('the log', () => {
  it('contains no secret, at any level and however the secret was sent', async () => {
    const secrets: string[] = [ADMIN_KEY]
    const log = await logOf('trace', async (url) => {
      const admin = { authorization: `Bearer ${ADMIN_KEY}` }
      const made = await send(url, '/admin/keys', admin, { subject: 'alice', scopes: ['publish', 'discover'] })
      const { key, id } = JSON.parse(await made.text())
      const token = await issuer.token()
      const wrongToken = `${token.slice(0, -6)}AAAAAA`
      const wrong = 'sb_a-key-that-nobody-has'
      const basic = Buffer.from('user:secret-password').toString('base64')
      secrets.push(key, token, wrongToken, wrong, basic, 'secret-password')
      const variants: Record<string, string>[] = [key, token, wrongToken, wrong].flatMap((secret) => [
        { authorization: `Bearer ${secret}` },
        { authorization: secret },
        { 'x-api-key': secret },
        { cookie: `key=${secret}` },
        { 'x-agent-authorization': secret },
      ])
      for (const headers of [...variants, { authorization: `Basic ${basic}` }]) {
        await send(url, '/agents', headers)
        await send(url, '/agents', headers, aidipAgent())
        await send(url, '/ad/r?agent=a*', headers, fixture('FX-SUM'))
        await send(url, '/no/such/path', headers)
      }
      for (const name of ['key', 'api_key', 'access_token', 'token', 'q']) await send(url, `/agents?${name}=${key}`, {})
      await send(url, '/agents', { ...admin, 'content-type': 'text/plain' }, { password: key })
      for (const one of [key, wrong]) {
        const { headers } = await send(url, '/session', { origin: url }, { key: one })
        const [cookie] = headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
        if (cookie === undefined) continue
        secrets.push(cookie.replace(/^.*=/, ''))
        await send(url, '/agents', { cookie })
        await send(url, '/agents', { cookie, origin: url }, aidipAgent())
      }
      await fetch(`${url}/admin/keys/${id}`, { method: 'DELETE', headers: admin })
      await send(url, '/agents', { authorization: `Bearer ${key}` })
    })
    expect(log.split('\n').length).toBeGreaterThan(50)
    expect(secrets).toHaveLength(8)
    for (const secret of secrets) expect(log).not.toContain(secret)
  })

  it('PROF-14-11 PROF-15-04 contains no query text, at the default level and below', async () => {
    const words = ['zebracrossing', 'quokkafilter', 'axolotltag', 'narwhalconstraint', 'okapiname']
    for (const level of ['info', 'debug']) {
      const search = async (url: string): Promise<void> => {
        await send(url, '/agents/search', {}, { query: words[0], filters: { tags: [words[1]] } })
        await send(url, `/agents?q=${words[0]}&tags=${words[1]}`, {})
        await send(
          url,
          '/discover',
          {},
          { query: words[0], required_tags: [words[2]], constraints: { region: words[3] } },
        )
        await send(url, `/ad/l?agent=${words[4]}&tag=${words[2]}`, {})
        // Rejected queries too: the reason is logged, the query is not.
        await send(url, '/agents/search', {}, { query: [words[0]], filters: words[1] })
        await send(url, `/agents?top=${words[0]}`, {})
        await send(url, `/ad/l?agent=${words[4]}**`, {})
        await send(
          url,
          '/discover',
          { prefer: 'handling=strict' },
          { query: words[0], constraints: { [words[3] ?? '']: 1 } },
        )
      }
      const log = await logOf(level, search, 'with-model')
      expect(log).toContain('"code":"invalid_request"')
      for (const word of words) expect(log, level).not.toContain(word)
    }
  })

  it('PROF-12-03 C-74 identifies a rejected request by the request id in the response', async () => {
    const ids: string[] = []
    const log = await logOf('info', async (url) => {
      const refused = await send(url, '/discover', {}, {})
      ids.push(JSON.parse(await refused.text()).correlation_id)
      const given = await send(url, '/ad/r?agent=x', { 'x-request-id': 'a-client-chose-this' }, {})
      ids.push(JSON.parse(await given.text()).correlation_id)
    })
    expect(ids[1]).toBe('a-client-chose-this')
    for (const id of ids) expect(log).toContain(`"reqId":"${id}"`)
  })

  it('AD-8.2-06 warns about a credential that lives much longer than the registration', async () => {
    const log = await logOf('warn', async (url) => {
      const short = { authorization: `Bearer ${await issuer.token({ sub: 'short-lived' }, '1h')}` }
      expect((await send(url, '/ad/r?agent=a&lt=86400', short, fixture('FX-SUM'))).status).toBe(201)
      const long = { authorization: `Bearer ${await issuer.token({ sub: 'long-lived' }, '400d')}` }
      expect((await send(url, '/ad/r?agent=b&lt=3600', long, fixture('FX-SUM'))).status).toBe(201)
    })
    expect(log).toMatch(/"subject":"long-lived".*much longer/)
    expect(log).not.toContain('short-lived')
  })
})
