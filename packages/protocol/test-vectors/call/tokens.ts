import { createHmac } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { TokenErrorCode } from '../../src/call/token-verifier.js'

export const TOKEN_ISSUER = 'https://issuer.example'
export const TOKEN_AUDIENCE = 'tester'
/** Milliseconds: the current time in these vectors. */
export const TOKEN_NOW = Date.parse('2030-01-01T00:00:00Z')

export interface TokenVector {
  readonly name: string
  /** `alg` of the header. */
  readonly algorithm: string
  /** Replace or, if undefined, remove claims of a good token. */
  readonly claims?: Readonly<Record<string, unknown>>
  readonly result: { readonly subject: string; readonly scopes: readonly string[] } | { readonly code: TokenErrorCode }
}

const NOW = TOKEN_NOW / 1000
const GOOD = { subject: 'ann', scopes: ['publish', 'discover'] }
const INVALID = { code: 'invalid' } as const
const ASYMMETRIC = ['EdDSA', 'Ed25519', 'ES256', 'ES384', 'RS256', 'PS256']

/** Accepted by a verifier that tolerates 30 s of clock skew, and rejected by one that tolerates none. */
export const TOKENS_WITHIN_TOLERANCE: readonly TokenVector[] = [
  { name: 'expired 29 s ago', algorithm: 'ES256', claims: { exp: NOW - 29 }, result: GOOD },
  { name: 'valid in 29 s', algorithm: 'ES256', claims: { nbf: NOW + 29 }, result: GOOD },
]

/** Claims of the wrong type, which other programs may write. */
const WRONG_TYPES: readonly Readonly<Record<string, unknown>>[] = [
  ...[7, true, null, {}, [], ['ann']].map((sub) => ({ sub })),
  ...[String(NOW + 3600), true, null, {}, [NOW + 3600], 1e300].map((exp) => ({ exp })),
  ...['soon', true, {}, []].map((nbf) => ({ nbf })),
  ...['now', {}].map((iat) => ({ iat })),
  ...[7, true, null, {}, [], [7], [['tester']], { tester: true }].map((aud) => ({ aud })),
  ...[7, true, {}, [7], ['publish', null], [['publish']]].map((scope) => ({ scope })),
  ...[7, {}, [{}]].map((scp) => ({ scope: undefined, scp })),
]

/** Tokens of one trusted issuer, and the result of verifying them. */
export const TOKENS: readonly TokenVector[] = [
  ...ASYMMETRIC.map((algorithm) => ({ name: `signed with ${algorithm}`, algorithm, result: GOOD })),
  ...['ES512', 'RS512', 'HS256', 'none'].map((algorithm) => ({
    name: `signed with ${algorithm}`,
    algorithm,
    result: { code: 'unsupported_algorithm' } as const,
  })),
  { name: 'expired 31 s ago', algorithm: 'ES256', claims: { exp: NOW - 31 }, result: { code: 'expired' } },
  { name: 'valid in 31 s', algorithm: 'ES256', claims: { nbf: NOW + 31 }, result: INVALID },
  { name: 'without exp', algorithm: 'ES256', claims: { exp: undefined }, result: INVALID },
  { name: 'without sub', algorithm: 'ES256', claims: { sub: undefined }, result: INVALID },
  { name: 'with an empty sub', algorithm: 'ES256', claims: { sub: '' }, result: INVALID },
  { name: 'with a control character in sub', algorithm: 'ES256', claims: { sub: 'a\u0000b' }, result: INVALID },
  ...WRONG_TYPES.map((claims) => ({
    name: `with the claim ${JSON.stringify(claims)}`,
    algorithm: 'ES256',
    claims,
    result: INVALID,
  })),
  ...[7, null, {}, ['https://issuer.example'], '__proto__'].map((iss) => ({
    name: `with the issuer ${JSON.stringify(iss)}`,
    algorithm: 'ES256',
    claims: { iss },
    result: { code: 'unknown_issuer' } as const,
  })),
  {
    name: 'with a SPIFFE id',
    algorithm: 'ES256',
    claims: { sub: 'spiffe://td.example/billing' },
    result: { ...GOOD, subject: 'spiffe://td.example/billing' },
  },
  { name: 'with a malformed SPIFFE id', algorithm: 'ES256', claims: { sub: 'spiffe://TD/billing' }, result: INVALID },
  { name: 'with a sub that is too long', algorithm: 'ES256', claims: { sub: 'a'.repeat(2049) }, result: INVALID },
  { name: 'without aud', algorithm: 'ES256', claims: { aud: undefined }, result: INVALID },
  { name: 'for another audience', algorithm: 'ES256', claims: { aud: 'elsewhere' }, result: INVALID },
  { name: 'for several audiences', algorithm: 'ES256', claims: { aud: ['elsewhere', 'tester'] }, result: GOOD },
  {
    name: 'of another issuer',
    algorithm: 'ES256',
    claims: { iss: 'https://issuer.example.evil' },
    result: { code: 'unknown_issuer' },
  },
  { name: 'without iss', algorithm: 'ES256', claims: { iss: undefined }, result: { code: 'unknown_issuer' } },
  {
    name: 'with spaces around its scopes',
    algorithm: 'ES256',
    claims: { scope: ' publish  discover ' },
    result: GOOD,
  },
  {
    name: 'with scp as an array',
    algorithm: 'ES256',
    claims: { scope: undefined, scp: ['publish', 'discover'] },
    result: GOOD,
  },
  {
    name: 'with scp as a list',
    algorithm: 'ES256',
    claims: { scope: undefined, scp: 'publish discover' },
    result: GOOD,
  },
  {
    name: 'without scopes',
    algorithm: 'ES256',
    claims: { scope: undefined },
    result: { subject: 'ann', scopes: [] },
  },
]

/** The issuer's keys, and tokens signed with them. */
export interface TokenSigner {
  readonly keys: readonly JWK[]
  sign(vector: Pick<TokenVector, 'algorithm' | 'claims'>): Promise<string>
}

/** Makes keys for every algorithm of the vectors. */
export async function createTokenSigner(): Promise<TokenSigner> {
  const pairs = await Promise.all(
    [...ASYMMETRIC, 'ES512', 'RS512'].map(async (alg) => {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
      return { alg, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid: alg, alg, use: 'sig' } }
    }),
  )
  return {
    keys: pairs.map(({ jwk }) => jwk),
    async sign({ algorithm, claims = {} }) {
      const payload = {
        iss: TOKEN_ISSUER,
        aud: TOKEN_AUDIENCE,
        sub: 'ann',
        scope: 'publish discover',
        exp: NOW + 3600,
        ...claims,
      }
      const pair = pairs.find(({ alg }) => alg === algorithm)
      if (pair) return new SignJWT(payload).setProtectedHeader({ alg: algorithm, kid: algorithm }).sign(pair.privateKey)
      const [first] = pairs
      const unsigned = `${encode({ alg: algorithm, kid: first?.alg })}.${encode(payload)}`
      if (algorithm === 'none' || !first) return `${unsigned}.`
      // The classic algorithm confusion attack: the public key used as the secret of an HMAC.
      return `${unsigned}.${createHmac('sha256', await exportSPKI(first.publicKey))
        .update(unsigned)
        .digest('base64url')}`
    },
  }
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
