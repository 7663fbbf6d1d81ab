import { createServer, type Server } from 'node:https'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { switchboard, temporaryFolder } from '../../server/test/support/process.js'
import { type Authority, createAuthority, type Identity } from '../../server/test/support/tls.js'
import { runQuietly } from './support/run-quietly.js'

const folder = temporaryFolder()
const servers: Server[] = []
let authority: Authority
beforeAll(() => {
  authority = createAuthority(folder.path, 'ca')
})
afterAll(() => {
  for (const server of servers) server.close()
  folder.remove()
})

/** Serves one agent over TLS; returns its port. */
async function serveWith(identity: Identity): Promise<number> {
  const server = createServer(identity, (_request, response) =>
    response.setHeader('content-type', 'application/json').end('{"id":"a","name":"A","capabilities":[]}'),
  )
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}

describe('a directory that is not trusted', () => {
  it.each([
    [
      'an unknown issuer',
      () => authority.issue('/CN=x', 'DNS:localhost'),
      /the issuer of the certificate is unknown; .*--ca FILE/,
    ],
    ['a self-signed certificate', () => authority, /the certificate is self-signed; .*--ca FILE/],
  ])('is reported by what is wrong: %s', async (_what, identity, reason) => {
    const { code, stderr } = await runQuietly(['get', 'a', '--url', `https://localhost:${await serveWith(identity())}`])
    expect(code).toBe(1)
    expect(stderr).toMatch(reason)
    expect(stderr).toMatch(/^switchboard: [^\n]+\n$/)
    expect(stderr).not.toContain('check that it is running')
  })

  it('is trusted with --ca or SWITCHBOARD_CA, but not with an expired certificate or for another host name', async () => {
    const ca = join(folder.path, 'ca.pem')
    const good = await serveWith(authority.issue('/CN=x', 'DNS:localhost'))
    const expired = await serveWith(authority.issueExpired('/CN=localhost'))
    const get = (url: string, env?: Record<string, string>) =>
      switchboard(['get', 'a', '--url', url, ...(env ? [] : ['--ca', ca])], { env: env ?? {} }).ended
    expect(await get(`https://localhost:${good}`)).toMatchObject({ code: 0, stdout: expect.stringMatching(/^id +a\n/) })
    expect(await get(`https://localhost:${good}`, { SWITCHBOARD_CA: ca })).toMatchObject({ code: 0 })
    expect(await get(`https://127.0.0.1:${good}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the certificate is for another host name'),
    })
    expect(await get(`https://localhost:${expired}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the certificate has expired'),
    })
  })

  it('rejects a file without certificates', async () => {
    const missing = await runQuietly(['get', 'a', '--ca', join(folder.path, 'none.pem')])
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--ca .*none\.pem cannot be read \(ENOENT\)/),
    })
    const empty = await runQuietly(['get', 'a', '--ca', join(folder.path, 'ca.cnf')])
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringMatching(/must be a PEM file/) })
  })
})
