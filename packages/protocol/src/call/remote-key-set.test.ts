import { errors, exportJWK, generateKeyPair, type JWK } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { createRemoteKeySet, KeysUnavailableError } from './remote-key-set.js'

const HOUR_MS = 3_600_000
let keys: JWK[]
beforeAll(async () => {
  keys = await Promise.all(
    ['old', 'new'].map(async (kid) => ({ ...(await exportJWK((await generateKeyPair('ES256')).publicKey)), kid })),
  )
})

/** An issuer that publishes the first of its keys until it rotates them, and a clock. */
function startIssuer() {
  const issuer = {
    published: keys.slice(0, 1),
    fetches: 0,
    time: 0,
    respond: async (): Promise<Response> => Response.json({ keys: issuer.published }),
    find: async (kid: string) => find({ alg: 'ES256', kid }, { payload: '', signature: '' }),
  }
  const find = createRemoteKeySet({
    url: 'https://issuer.example/jwks',
    monotonic: () => issuer.time,
    fetch: () => {
      issuer.fetches++
      return issuer.respond()
    },
  })
  return issuer
}
const fail = async (): Promise<Response> => {
  throw new TypeError('fetch failed')
}

describe('createRemoteKeySet', () => {
  it('fetches the keys once for many tokens', async () => {
    const issuer = startIssuer()
    await Promise.all(Array.from({ length: 50 }, () => issuer.find('old')))
    await issuer.find('old')
    expect(issuer.fetches).toBe(1)
  })

  it('fetches the keys again at once for an unknown key id, and once for concurrent tokens', async () => {
    const issuer = startIssuer()
    await issuer.find('old')
    issuer.published = keys.slice(1)
    issuer.time += 1
    await Promise.all(Array.from({ length: 50 }, () => issuer.find('new')))
    expect(issuer.fetches).toBe(2)
    await expect(issuer.find('old')).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey)
  })

  it('fetches no more than once in 3 s for made-up key ids, and does not delay known keys meanwhile', async () => {
    const issuer = startIssuer()
    await issuer.find('old')
    for (let i = 0; i < 1000; i++) {
      await expect(issuer.find(`made-up-${i}`)).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey)
      issuer.time += 60
    }
    expect(issuer.fetches).toBeLessThanOrEqual(5 + 60 / 3)

    issuer.respond = () => new Promise(() => undefined)
    issuer.time += 3000
    const waiting = issuer.find('made-up')
    await issuer.find('old')
    await Promise.race([waiting, issuer.find('old')])
  })

  it('learns a new key within 3 s while someone sends made-up key ids', async () => {
    const issuer = startIssuer()
    for (let i = 0; i < 20; i++) await issuer.find(`made-up-${i}`).catch(() => undefined)
    issuer.published = keys
    await expect(issuer.find('new')).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey)
    issuer.time += 3000
    await issuer.find('made-up').catch(() => undefined)
    await issuer.find('new')
  })

  it('rejects a withdrawn key after ten minutes', async () => {
    const issuer = startIssuer()
    await issuer.find('old')
    issuer.published = keys.slice(1)
    issuer.time += HOUR_MS / 6 - 1
    await issuer.find('old')
    issuer.time += 1
    await expect(issuer.find('old')).rejects.toBeInstanceOf(errors.JWKSNoMatchingKey)
  })

  it('uses the known keys for an hour while they cannot be fetched, without waiting for each token', async () => {
    const issuer = startIssuer()
    await issuer.find('old')
    issuer.respond = fail
    issuer.time += HOUR_MS / 2
    await issuer.find('old')
    issuer.respond = () => new Promise(() => undefined)
    await issuer.find('old')
    await issuer.find('old')
  })

  it('reports that the keys are unavailable after that hour, and recovers', async () => {
    const issuer = startIssuer()
    await issuer.find('old')
    issuer.respond = fail
    issuer.time += HOUR_MS
    await expect(issuer.find('old')).rejects.toBeInstanceOf(KeysUnavailableError)
    issuer.respond = async () => Response.json({ keys })
    await issuer.find('old')
  })

  it.each<[string, () => Response]>([
    ['an error', () => new Response('', { status: 500 })],
    ['a redirect', () => new Response('', { status: 302, headers: { location: 'https://elsewhere.example' } })],
    ['no JSON', () => new Response('<html>')],
    ['no UTF-8', () => new Response(new Uint8Array([0xff]))],
    ['no key set', () => Response.json([])],
    ['keys that are not objects', () => Response.json({ keys: [7] })],
    ['too much', () => Response.json({ keys: [], padding: 'x'.repeat(1_048_576) })],
  ])('keeps the known keys if the issuer responds with %s', async (_what, respond) => {
    const issuer = startIssuer()
    issuer.respond = async () => respond()
    await expect(issuer.find('old')).rejects.toBeInstanceOf(KeysUnavailableError)
    issuer.respond = async () => Response.json({ keys: issuer.published })
    await issuer.find('old')
    issuer.respond = async () => respond()
    issuer.time += HOUR_MS / 2
    await issuer.find('old')
  })

  it('does not fetch for every token while the issuer is down', async () => {
    const issuer = startIssuer()
    issuer.respond = fail
    for (let i = 0; i < 200; i++) {
      await expect(issuer.find('old')).rejects.toBeInstanceOf(KeysUnavailableError)
    }
    expect(issuer.fetches).toBeLessThanOrEqual(5)
  })
})
