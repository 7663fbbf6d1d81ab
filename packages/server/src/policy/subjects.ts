import { parseSpiffeId } from '@switchboard/protocol'

/** Which subjects the credentials of callers stand for. */
export interface Subjects {
  /** The subject of a token with this `sub`. */
  ofToken(issuer: string, sub: string): string
  /** The subject of a client certificate with this name. */
  ofCertificate(name: string): string
}

export interface SubjectRules {
  /** The one issuer whose `sub` is the subject as it is. */
  readonly plainIssuer: string | undefined
  /** Issuers by the SPIFFE trust domain that they speak for. */
  readonly trustDomains: ReadonlyMap<string, string>
}

/** Separates the issuer from `sub` in a qualified subject; an issuer has no fragment (OpenID Connect Core §2). */
export const QUALIFIER = '#'
/** Stands for the client CA where a certificate's name has to be qualified. */
export const CERTIFICATES = 'certificate'
/** Stands for the directories whose agents are copied here, as the owner of the copies. */
export const FEDERATION = 'federation'
/** Names of the administrator, of callers without credentials, and of the directory itself in the audit log. */
export const OWN_NAMES: ReadonlySet<string> = new Set(['admin', 'anonymous', 'switchboard'])

/**
 * Subjects are compared as strings everywhere, so two holders must never have the same one. API keys have the subject
 * that the operator gave them. Tokens have `issuer#sub`, except those of the plain issuer, and SPIFFE ids of a trust
 * domain that the issuer speaks for. No certificate and no token stands for a name of the directory itself, or for a
 * qualified subject of someone else.
 */
export function createSubjects({ plainIssuer, trustDomains }: SubjectRules): Subjects {
  return {
    ofToken(issuer, sub) {
      const trustDomain = parseSpiffeId(sub)?.trustDomain
      const speaker = trustDomain === undefined ? undefined : trustDomains.get(trustDomain)
      const isPlain = speaker === undefined ? issuer === plainIssuer && isUnqualified(sub) : speaker === issuer
      return isPlain ? sub : issuer + QUALIFIER + sub
    },
    ofCertificate: (name) => (isUnqualified(name) ? name : CERTIFICATES + QUALIFIER + name),
  }
}

const isUnqualified = (name: string): boolean => !OWN_NAMES.has(name) && !name.includes(QUALIFIER)
