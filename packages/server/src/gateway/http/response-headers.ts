/** The response that a header belongs to. */
export interface HeaderContext {
  readonly status: number
  /** The URL that was requested. */
  readonly url: URL
}

/** The value of a header to forward; undefined: it is dropped. */
type Rule = (value: string, context: HeaderContext) => string | undefined

/** Ids and versions; a header carries visible ASCII without surprises. */
const identifier: Rule = (value) => (/^[\x20-\x7e]{1,1024}$/.test(value) ? value : undefined)

/**
 * Headers of an agent's response that are forwarded, and why. Others are dropped: a caller would take them for headers of
 * the directory. They could ask for its password (WWW-Authenticate), set cookies, redirect, open the directory to other
 * sites (CORS), change how its pages load (Content-Security-Policy, Clear-Site-Data, Alt-Svc,
 * Strict-Transport-Security), or describe the agent's host.
 */
const FORWARDED: Readonly<Record<string, Rule>> = {
  // The name of a file.
  'content-disposition': (value) => (/^(attachment|inline)(;[\x20-\x7e]*)?$/i.test(value) ? value : undefined),
  // The caller can ask for a language by Accept-Language.
  'content-language': (value) => (/^[A-Za-z0-9, -]{1,256}$/.test(value) ? value : undefined),
  // Where the created resource or the accepted task is (AIDIP-5.2-01): at the agent itself.
  location: (value, { status, url }) => (status === 201 || status === 202 ? atOriginOf(url, value) : undefined),
  // When a failed call may be repeated.
  'retry-after': (value, { status }) => (status >= 400 ? value : undefined),
  // The version that responded (C-63), and what the caller sends to continue (AURI §8.1).
  'x-agent-version': identifier,
  'x-session-id': identifier,
  'x-task-id': identifier,
}

const RULES = Object.entries(FORWARDED)

/** The headers of an agent's response that may reach the caller; lower-case names. */
export function forwardedHeaders(
  received: Readonly<Record<string, string>>,
  context: HeaderContext,
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, rule] of RULES) {
    const value = received[name]
    const forwarded = value === undefined ? undefined : rule(value, context)
    if (forwarded !== undefined) headers[name] = forwarded
  }
  return headers
}

/** The absolute URL, if it is at the origin of the agent and contains no credentials. */
function atOriginOf(url: URL, location: string): string | undefined {
  if (!URL.canParse(location, url.href)) return undefined
  const { href, origin, username, password } = new URL(location, url)
  return origin === url.origin && username === '' && password === '' ? href : undefined
}
