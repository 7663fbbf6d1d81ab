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
  return Object.assign(issuer, { introspect })
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
    for (let i = 0; i < 5000; i++) await issuer.introspect(`made-up-${i}`)
    expect(await issuer.introspect('valid')).toBeDefined()
  })

  it('sends no more than 64 requests at once: further tokens are unavailable', async () => {
    const issuer = startIssuer()
    const release: (() => void)[] = []
    issuer.respond = () => new Promise((resolve) => release.push(() => resolve(Response.json({ active: true }))))
    const waiting = Array.from({ length: 64 }, (_, i) => issuer.introspect(`t${i}`))
    await expect(issuer.introspect('one more')).rejects.toMatchObject({ code: 'unavailable', status: 503 })
    for (const end of release) end()
    await Promise.all(waiting)
    issuer.respond = async () => Response.json({ active: true })
    expect(await issuer.introspect('one more')).toBeDefined()
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
