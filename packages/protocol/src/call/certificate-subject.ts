import { subjectProblem } from '../identifiers.js'
import { isSpiffe } from '../spiffe-id.js'

/** The parts of a client certificate that name its holder, in the form of Node's `getPeerCertificate()`. */
export interface CertificateNames {
  /** Alternative names, such as `DNS:a.example, URI:"spiffe://a,b"`. */
  readonly subjectaltname?: string | undefined
  readonly subject?: { readonly CN?: string | readonly string[] | undefined } | undefined
}

/**
 * The subject that a verified client certificate stands for: its first SAN URI, else its first SAN DNS name, else its
 * first CN. Undefined if there is none, or if the name cannot be used as a subject. A certificate with a SPIFFE id has no
 * other URI (X.509-SVID §2). The caller has checked that the certificate is trusted.
 */
export function certificateSubject({ subjectaltname, subject }: CertificateNames): string | undefined {
  const alternatives = readAlternativeNames(subjectaltname ?? '')
  if (!alternatives) return undefined
  const [uris = [], hosts = []] = [alternatives.get('URI'), alternatives.get('DNS')]
  if (uris.length > 1 && uris.some(isSpiffe)) return undefined
  const name = uris[0] ?? hosts[0] ?? [subject?.CN].flat()[0]
  return name === undefined || subjectProblem(name) !== undefined ? undefined : name
}

/** One `kind:value`. Node writes a value with a comma or a quotation mark in it as a JSON string. */
const ALTERNATIVE = /(?:^|, )([^:,"]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?=, |$)/y

/**
 * The names of each kind; undefined if the text is malformed. It must be read as a whole: a quoted name may
 * contain what looks like another entry.
 */
function readAlternativeNames(text: string): Map<string, string[]> | undefined {
  const names = new Map<string, string[]>()
  ALTERNATIVE.lastIndex = 0
  while (ALTERNATIVE.lastIndex < text.length) {
    const [, kind = '', value = ''] = ALTERNATIVE.exec(text) ?? []
    const name = value.startsWith('"') ? unquote(value) : value
    if (kind === '' || name === undefined) return undefined
    names.set(kind, [...(names.get(kind) ?? []), name])
  }
  return names
}

function unquote(text: string): string | undefined {
  try {
    return String(JSON.parse(text))
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
