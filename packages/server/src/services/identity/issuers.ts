import { CERTIFICATES, FEDERATION, QUALIFIER } from '../../policy/subjects.js'
import type { IntrospectionOptions } from './introspection.js'
import type { ScopeRule } from './token-scopes.js'

/** An issuer whose tokens are accepted (CONTRACT: `issuers[]`). Its URLs are the operator's, so any address is allowed. */
export interface Issuer {
  readonly issuer: string
  /** A token must be meant for this audience, or for one of these. */
  readonly audience: string | readonly string[]
  /** Absent: tokens are not verified here, but introspected. */
  readonly jwksUrl?: string
  /** Whether `sub` is the subject as it is, or qualified with the issuer. Default: see `choosePlainIssuer`. */
  readonly subjects?: 'plain' | 'qualified'
  /** SPIFFE trust domains whose ids this issuer may give to its tokens. */
  readonly trustDomains?: readonly string[]
  /** Which claims give which scopes. Default: `scope` or `scp`, as they are. */
  readonly scopes?: readonly ScopeRule[]
  readonly introspection?: IntrospectionOptions
  /** With it, people can sign in at this issuer with their browser. */
  readonly signIn?: SignInOptions
}

/** How people sign in at an OpenID provider; its endpoints are in its discovery document. */
export interface SignInOptions {
  /** This directory at the provider. */
  readonly clientId: string
  /** Undefined: a public client, which PKCE alone protects. */
  readonly clientSecret?: string
  /** What people read on the button. Default: the host of the issuer. */
  readonly name?: string
  /** Scopes to request from the provider. Default: `openid`. */
  readonly requestScopes?: readonly string[]
  /** Scopes of everybody who signs in, besides those of their claims. */
  readonly scopes?: readonly string[]
}

/** What is wrong with the issuers together; undefined if nothing is. Each one alone is checked by the config's schema. */
export function issuersProblem(issuers: readonly Issuer[]): string | undefined {
  for (const { issuer, jwksUrl, introspection, signIn } of issuers) {
    if (issuer.includes(QUALIFIER) || [CERTIFICATES, FEDERATION].includes(issuer))
      return `the issuer "${issuer}" must be a URL without "#"`
    if (jwksUrl === undefined && !introspection && !signIn)
      return `the issuer "${issuer}" needs a jwksUrl, introspection or signIn`
    if (signIn && !URL.canParse(issuer)) return `the issuer "${issuer}" must be a URL, because it has signIn`
  }
  const twice = firstDuplicate(issuers.map(({ issuer }) => issuer))
  if (twice !== undefined) return `the issuer "${twice}" is listed twice`
  const domain = firstDuplicate(issuers.flatMap(({ trustDomains = [] }) => trustDomains))
  if (domain !== undefined) return `the trust domain "${domain}" is listed twice: only one issuer can speak for it`
  if (issuers.filter(({ subjects }) => subjects === 'plain').length > 1)
    return 'only one issuer can have "subjects": "plain": the others would share its subjects'
  if (issuers.filter(acceptsOpaque).length > 1)
    return 'only one issuer can introspect opaque tokens: set "opaque": false in the introspection of the others'
  return undefined
}

/** Whether tokens that do not name their issuer are sent to this one. */
export const acceptsOpaque = ({ introspection }: Issuer): boolean =>
  introspection !== undefined && introspection.opaque !== false

/** The issuers by the trust domains that they speak for. */
export const speakersOf = (issuers: readonly Issuer[]): Map<string, string> =>
  new Map(issuers.flatMap(({ issuer, trustDomains = [] }) => trustDomains.map((domain) => [domain, issuer] as const)))

const firstDuplicate = (texts: readonly string[]): string | undefined =>
  texts.find((text, i) => texts.indexOf(text) !== i)
