import { describe, expect, it } from 'vitest'
import { createIntrospect, type IntrospectionOptions } from './introspection.js'

const OPTIONS: IntrospectionOptions = {
  url: 'https://issuer.example/introspect',
  clientId: 'the directory',
  clientSecret: 'a+b:c',
}

/** An issuer that responds with `respond`, and a clock. */
function startIssuer() {
  const issuer = {
    time: 0,
    requests: [] as Request[],
    respond: async (): Promise<Response> => Response.json({ active: true, sub: 'ann' }),
  }
  const introspect = createIntrospect(OPTIONS, {
    now: () => issuer.time,
    monotonic: () => issuer.time,
    fetch: async (url, init) => {
      issuer.requests.push(new Request(url, init))
      return issuer.respond()
    },
  })
  return Object.assign(issuer, { introspect: (token: string, client = '192.0.2.1') => introspect(token, client) })
}

describe('createIntrospect', () => {
  it('sends the token with the credentials of the directory, which are form-encoded', async () => {
    const issuer = startIssuer()
    expect(await issuer.introspect('a token')).toEqual({ active: true, sub: 'ann' })
    const [request] = issuer.requests
    expect(request?.method).toBe('POST')
    expect(atob(request?.headers.get('authorization')?.slice('Basic '.length) ?? '')).toBe('the+directory:a%2Bb%3Ac')
    expect(await request?.text()).toBe('token=a+token&token_type_hint=access_token')
  })

  it('shares a request between concurrent callers, and uses its response for 30 s', async () => {
    const issuer = startIssuer()
    await Promise.all(Array.from({ length: 20 }, () => issuer.introspect('t')))
    issuer.time = 29_999
    await issuer.introspect('t')
    expect(issuer.requests).toHaveLength(1)
    issuer.time = 30_000
    await issuer.introspect('t')
    expect(issuer.requests).toHaveLength(2)
  })

  it('uses no response for longer than the token is valid', async () => {
    const issuer = startIssuer()
    issuer.respond = async () => Response.json({ active: true, exp: 10 })
    await issuer.introspect('t')
    issuer.time = 10_000
    issuer.respond = async () => Response.json({ active: false })
    expect(await issuer.introspect('t')).toBeUndefined()
  })

  it('remembers rejected tokens for 5 s', async () => {
    const issuer = startIssuer()
    issuer.respond = async () => Response.json({ active: false })
    expect(await issuer.introspect('t')).toBeUndefined()
    issuer.time = 4999
    expect(await issuer.introspect('t')).toBeUndefined()
    expect(issuer.requests).toHaveLength(1)
    issuer.time = 5000
    issuer.respond = async () => Response.json({ active: true })
    expect(await issuer.introspect('t')).toEqual({ active: true })
  })

  it('keeps valid tokens while many made-up ones are tried', async () => {
    const issuer = startIssuer()
    await issuer.introspect('valid')
    issuer.respond = async () => Response.json({ active: false })
    for (let i = 0; i < 5000; i++) await issuer.introspect(`made-up-${i}`, `client ${i}`)
    expect(await issuer.introspect('valid')).toBeDefined()
  })

  it('sends no more than 64 requests at once, 32 of one client: further tokens are unavailable', async () => {
    const issuer = startIssuer()
    const release: (() => void)[] = []
    issuer.respond = () => new Promise((resolve) => release.push(() => resolve(Response.json({ active: true }))))
    const ask = (client: string) => Array.from({ length: 32 }, (_, i) => issuer.introspect(`${client} ${i}`, client))
    const waiting = ask('a')
    await expect(issuer.introspect('one more', 'a')).rejects.toMatchObject({ code: 'unavailable', status: 503 })
    waiting.push(...ask('b'))
    await expect(issuer.introspect('one more', 'c')).rejects.toMatchObject({ code: 'unavailable', status: 503 })
    for (const end of release) end()
    await Promise.all(waiting)
    issuer.respond = async () => Response.json({ active: true })
    expect(await issuer.introspect('one more', 'a')).toBeDefined()
  })

  it('lets a client try 30 unknown tokens, and one more every 2 s; others and known tokens are not affected', async () => {
    const issuer = startIssuer()
    await issuer.introspect('valid', 'a')
    issuer.respond = async () => Response.json({ active: false })
    const guess = async (): Promise<number> => {
      let tried = 0
      for (;;) {
        try {
          await issuer.introspect(`guess ${issuer.time} ${tried}`, 'a')
          tried++
        } catch (error) {
          expect(error).toMatchObject({ code: 'rate_limited', retryAfter: 2 })
          return tried
        }
      }
    }
    expect(await guess()).toBe(30)
    expect(await issuer.introspect('valid', 'a')).toBeDefined()
    issuer.time = 2000
    expect(await guess()).toBe(1)
    issuer.respond = async () => Response.json({ active: true })
    expect(await issuer.introspect('other', 'b')).toBeDefined()
  })

  it.each<[string, () => Response | never]>([
    ['an error', () => new Response('', { status: 500 })],
    ['that it rejects the directory', () => new Response('{"active":true}', { status: 401 })],
    ['no JSON', () => new Response('<html>')],
    ['nothing', () => new Response(null, { status: 200 })],
    ['no object', () => Response.json([true])],
    ['no member "active"', () => Response.json({ sub: 'ann' })],
    ['"active" as a text', () => Response.json({ active: 'true' })],
    ['too much', () => Response.json({ active: true, padding: 'x'.repeat(20_000) })],
    [
      'a broken connection',
      () => {
        throw new TypeError('fetch failed')
      },
    ],
  ])('accepts nothing, and asks again, if the issuer responds with %s', async (_what, respond) => {
    const issuer = startIssuer()
    issuer.respond = async () => respond()
    const refused = issuer.introspect('t')
    await expect(refused).rejects.toMatchObject({ code: 'unavailable', status: 503, retryAfter: 5 })
    await expect(refused).rejects.not.toThrow(OPTIONS.clientSecret)
    issuer.respond = async () => Response.json({ active: true })
    expect(await issuer.introspect('t')).toEqual({ active: true })
  })
})
