import fc from 'fast-check'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { type DelegationRequest, delegate, hashOf } from './delegation.js'
import { didKeyOf, keyOfDidKey } from './did-key.js'
import type { SigningKey } from './document-signature.js'
import type { VerificationKey } from './keys.js'
import { createSeenTokens } from './seen-tokens.js'
import { SigningError } from './signing-error.js'
import { verifyDelegation } from './verify-delegation.js'

const START = Date.parse('2026-11-15T12:00:00Z')

interface Actor {
  name: string
  key: SigningKey
}

/** An actor with its own key, named by its did:key. */
async function newActor(): Promise<Actor> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true })
  const name = didKeyOf(await exportJWK(publicKey))
  return { name, key: { id: keyOfDidKey(name).id ?? '', jwk: await exportJWK(privateKey) } }
}

const keysOf = async (issuer: string): Promise<VerificationKey[]> => [keyOfDidKey(issuer)]

describe('a delegation chain', () => {
  const actors: Actor[] = []
  let time = START
  let ids = 0

  const actor = (n: number): Actor => actors[n] ?? { name: '', key: { id: '', jwk: { kty: '' } } }
  const hop = (from: number, to: number, chain?: string, more: Partial<DelegationRequest> = {}): Promise<string> =>
    delegate({
      issuer: actor(from).name,
      audience: actor(to).name,
      key: actor(from).key,
      now: () => time,
      newId: () => `id-${ids++}`,
      ...(chain === undefined ? { subject: 'user-7' } : { chain }),
      ...more,
    })
  const check = (chain: string, at: number, more: object = {}) =>
    verifyDelegation(chain, { audience: actor(at).name, keysOf, now: () => time, ...more })

  beforeAll(async () => {
    for (let i = 0; i < 12; i++) actors.push(await newActor())
  })

  it('AURI-10-10 names the prior actors in order at the third hop', async () => {
    time = START
    const chain = await hop(2, 3, await hop(1, 2, await hop(0, 1)))
    const verified = await check(chain, 3)
    expect(verified.subject).toBe('user-7')
    expect(verified.actors).toEqual([actor(0).name, actor(1).name, actor(2).name])
    expect(chain.split(',')).toHaveLength(3)
  })

  it('AURI-10-11 rejects a hop signed by somebody else', async () => {
    const chain = await hop(1, 2, await hop(0, 1), { key: actor(5).key })
    await expect(check(chain, 2)).rejects.toMatchObject({ code: 'unknown_key' })
    const pretending = { id: actor(1).key.id, jwk: actor(5).key.jwk }
    await expect(check(await hop(1, 2, await hop(0, 1), { key: pretending }), 2)).rejects.toMatchObject({
      code: 'bad_signature',
    })
  })

  it('AURI-10-03 rejects an altered claim', async () => {
    const [head, body, mark] = (await hop(0, 1)).split('.')
    const claims = JSON.parse(Buffer.from(body ?? '', 'base64url').toString())
    const altered = Buffer.from(JSON.stringify({ ...claims, sub: 'root' })).toString('base64url')
    await expect(check(`${head}.${altered}.${mark}`, 1)).rejects.toMatchObject({ code: 'bad_signature' })
  })

  it('AURI-10-03 rejects a chain as soon as one of its hops has expired', async () => {
    const first = await hop(0, 1, undefined, { lifetime: 60 })
    const chain = await hop(1, 2, first, { lifetime: 600 })
    time = START + 80_000 // clocks may differ by 30 s
    expect((await check(chain, 2)).actors).toHaveLength(2)
    time = START + 91_000
    await expect(check(chain, 2)).rejects.toMatchObject({ code: 'expired' })
    time = START
  })

  it('rejects a hop from the future and one with too long a lifetime', async () => {
    const late = await hop(0, 1, undefined, { now: () => START + 60_000 })
    await expect(check(late, 1)).rejects.toMatchObject({ code: 'malformed' })
    const long = await hop(0, 1, undefined, { lifetime: 1e7 })
    await expect(check(long, 1)).rejects.toMatchObject({ code: 'malformed' })
  })

  it('AURI-10-11 rejects a loop, when signing and when verifying', async () => {
    const chain = await hop(1, 2, await hop(0, 1))
    await expect(hop(2, 0, chain)).rejects.toMatchObject({ code: 'loop' })
    await expect(hop(2, 2, chain)).rejects.toMatchObject({ code: 'loop' })
    const looping = `${chain},${await token(2, { aud: actor(0).name })}`
    await expect(check(looping, 0)).rejects.toMatchObject({ code: 'loop' })
  })

  it('AURI-10-11 accepts ten hops and rejects an eleventh', async () => {
    let chain = await hop(0, 1)
    for (let i = 1; i < 10; i++) chain = await hop(i, i + 1, chain)
    expect((await check(chain, 10)).hops).toHaveLength(10)
    await expect(hop(10, 11, chain)).rejects.toMatchObject({ code: 'too_long' })
    const eleven = `${chain},${await token(10, { aud: actor(11).name })}`
    await expect(check(eleven, 11)).rejects.toMatchObject({ code: 'too_long' })
  })

  it('rejects a chain for another audience', async () => {
    await expect(check(await hop(0, 1), 2)).rejects.toMatchObject({ code: 'wrong_audience' })
    const names = [actor(9).name, actor(1).name]
    expect(await check(await hop(0, 1), 1, { audience: names })).toMatchObject({ subject: 'user-7' })
  })

  it('rejects hops combined from different chains', async () => {
    const [first, second] = [await hop(0, 1), await hop(0, 1)]
    const continued = await hop(1, 2, first)
    await expect(check(`${second},${continued.split(',')[1]}`, 2)).rejects.toMatchObject({ code: 'broken_chain' })
    // A hop is cut out, so that the chain starts in the middle.
    await expect(check(String(continued.split(',')[1]), 2)).rejects.toMatchObject({ code: 'broken_chain' })
    // An actor continues a chain that was delegated to another.
    await expect(hop(3, 4, first)).rejects.toMatchObject({ code: 'broken_chain' })
    // The subject changes along the chain.
    const claims = { sub: 'root', aud: actor(2).name, prior: await hashOf(first) }
    const swapped = `${first},${await token(1, claims)}`
    await expect(check(swapped, 2)).rejects.toMatchObject({ code: 'broken_chain' })
  })

  it('rejects a replayed last hop, while earlier hops may be used again', async () => {
    const seen = createSeenTokens({ now: () => time })
    const first = await hop(0, 1)
    const [once, again] = [await hop(1, 2, first), await hop(1, 2, first)]
    expect(await check(once, 2, { seen })).toMatchObject({ subject: 'user-7' })
    await expect(check(once, 2, { seen })).rejects.toMatchObject({ code: 'replayed' })
    expect(await check(again, 2, { seen })).toMatchObject({ subject: 'user-7' })
  })

  it('is recorded as seen only if valid, so that nobody can use up someone else’s token', async () => {
    const seen = createSeenTokens({ now: () => time })
    const chain = await hop(0, 1)
    await expect(check(`${chain.slice(0, -6)}AAAAAA`, 1, { seen })).rejects.toMatchObject({ code: 'bad_signature' })
    expect(await check(chain, 1, { seen })).toMatchObject({ subject: 'user-7' })
  })

  it('rejects other types of JWT', async () => {
    const plain = await token(0, { aud: actor(1).name }, 'JWT')
    await expect(check(plain, 1)).rejects.toMatchObject({ code: 'bad_signature' })
  })

  it('needs a subject in its first hop', async () => {
    const request = { issuer: 'a', audience: 'b', key: actor(0).key, now: () => time, newId: () => 'x' }
    await expect(delegate(request)).rejects.toMatchObject({ code: 'malformed' })
  })

  it('fetches no keys before all other checks have passed', async () => {
    let fetched = 0
    const counting = async (issuer: string) => {
      fetched++
      return keysOf(issuer)
    }
    const loop = `${await hop(0, 1)},${await token(1, { aud: actor(0).name })}`
    await expect(check(loop, 0, { keysOf: counting })).rejects.toThrow(SigningError)
    await expect(check('x,y', 0, { keysOf: counting })).rejects.toThrow(SigningError)
    expect(fetched).toBe(0)
  })

  it('is verified or rejected with an error code, whatever is sent', async () => {
    const good = await hop(1, 2, await hop(0, 1))
    const cut = fc.tuple(fc.nat(good.length), fc.nat(good.length), fc.string()).map(([a, b, text]) => {
      const [from, to] = a < b ? [a, b] : [b, a]
      return good.slice(0, from) + text + good.slice(to)
    })
    const expected = await check(good, 2)
    const hostile = fc.oneof(fc.string(), cut, fc.constantFrom('', ',', '..,..', 'a'.repeat(20_000)))
    await fc.assert(
      fc.asyncProperty(hostile, async (chain) => {
        const result = await check(chain, 2).catch((error: unknown) => error)
        // Whitespace, and bits that base64url does not use, do not change the meaning.
        if (!(result instanceof SigningError)) expect(result).toEqual(expected)
      }),
    )
  })

  /** A token with a valid signature and any claims. */
  async function token(from: number, claims: object, typ = 'delegation+jwt'): Promise<string> {
    const at = Math.floor(time / 1000)
    return new SignJWT({ sub: 'user-7', iss: actor(from).name, jti: `id-${ids++}`, iat: at, exp: at + 60, ...claims })
      .setProtectedHeader({ alg: 'EdDSA', kid: actor(from).key.id, typ })
      .sign(actor(from).key.jwk)
  }
})

describe('seen tokens', () => {
  it('are rejected until they expire, and all are rejected above the limit', () => {
    let now = 0
    const seen = createSeenTokens({ now: () => now, max: 3 })
    expect(seen.add('a', 1000)).toBe(true)
    expect(seen.add('a', 1000)).toBe(false)
    expect([seen.add('b', 5000), seen.add('c', 5000), seen.add('d', 5000)]).toEqual([true, true, false])
    now = 1001
    expect([seen.add('d', 5000), seen.add('e', 5000), seen.add('b', 5000)]).toEqual([true, false, false])
  })
})
