/** Which paths of a host a robots.txt allows us to read (RFC 9309). */
export interface Robots {
  /** @param path path and query of a URL */
  isAllowed(path: string): boolean
  /** Milliseconds between requests that the host asks for; not part of the RFC, but widely used. */
  readonly delayMs?: number
}

/** Bytes of a robots.txt that are read; the RFC requires 500 KiB at least. */
export const MAX_ROBOTS_BYTES = 500 * 1024

/** Without a robots.txt, everything is allowed (RFC 9309 §2.3.1.3). */
export const ALLOWS_ALL: Robots = { isAllowed: () => true }

interface Rule {
  readonly allows: boolean
  /** The parts of the pattern between its `*`, and whether it ends with `$`. */
  readonly parts: readonly string[]
  readonly isAnchored: boolean
  /** Characters of the pattern: the longest match wins. */
  readonly length: number
}

interface Group {
  rules: Rule[]
  delaySeconds?: number
}

/**
 * Reads a robots.txt for the crawler with this product token. The groups that name it are merged; without any, the groups
 * for `*` apply.
 */
export function parseRobots(text: string, product: string): Robots {
  const groups = { own: newGroup(), everybody: newGroup() }
  let isNamed = false
  let current: Group[] = []
  let isInRules = false
  for (const { name, value } of linesOf(text)) {
    if (name === 'user-agent') {
      if (isInRules) current = []
      isInRules = false
      const isOwn = productOf(value) === product.toLowerCase()
      isNamed ||= isOwn
      if (isOwn) current.push(groups.own)
      if (value === '*') current.push(groups.everybody)
    } else if (name === 'allow' || name === 'disallow') {
      isInRules = true
      if (value === '' || current.length === 0) continue
      const rule = toRule(value, name === 'allow')
      for (const group of new Set(current)) group.rules.push(rule)
    } else if (name === 'crawl-delay' && /^\d{1,6}(\.\d{1,3})?$/.test(value)) {
      isInRules = true
      for (const group of current) group.delaySeconds = Math.max(group.delaySeconds ?? 0, Number(value))
    }
  }
  const { rules, delaySeconds } = isNamed ? groups.own : groups.everybody
  return {
    isAllowed: (path) => path === '/robots.txt' || isAllowed(rules, normalise(path)),
    ...(delaySeconds !== undefined && { delayMs: delaySeconds * 1000 }),
  }
}

const newGroup = (): Group => ({ rules: [] })

function* linesOf(text: string): Generator<{ name: string; value: string }> {
  for (const line of text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/)) {
    const [content = ''] = line.split('#', 1)
    const colon = content.indexOf(':')
    if (colon > 0) yield { name: content.slice(0, colon).trim().toLowerCase(), value: content.slice(colon + 1).trim() }
  }
}

/** The product token of a user-agent line: "Switchboard/1.0 (…)" names the product Switchboard. */
const productOf = (value: string): string | undefined => /^[a-z_-]+/i.exec(value)?.[0].toLowerCase()

function toRule(pattern: string, allows: boolean): Rule {
  const isAnchored = pattern.endsWith('$')
  const text = normalise(isAnchored ? pattern.slice(0, -1) : pattern)
  return { allows, parts: text.split(/\*+/), isAnchored, length: pattern.length }
}

/** The longest matching rule decides; of two equally long ones, the one that allows. */
function isAllowed(rules: readonly Rule[], path: string): boolean {
  let best: Rule | undefined
  for (const rule of rules) {
    const isBetter = !best || rule.length > best.length || (rule.length === best.length && rule.allows)
    if (isBetter && matches(rule, path)) best = rule
  }
  return best?.allows ?? true
}

/** Every part is taken at its first occurrence, so that no pattern needs more than one pass over the path. */
function matches({ parts, isAnchored }: Rule, path: string): boolean {
  const [first = '', ...others] = parts
  if (!path.startsWith(first)) return false
  const last = others.pop()
  if (last === undefined) return !isAnchored || path.length === first.length
  let at = first.length
  for (const part of others) {
    const found = path.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return isAnchored ? path.length - last.length >= at && path.endsWith(last) : path.includes(last, at)
}

const hasOneSpelling = /^[\x21-\x24\x26-\x7e]*$/

/** One spelling for octets that can be written in several ways: `%7e` is `~`, and `ä` is `%C3%A4`. */
function normalise(path: string): string {
  if (hasOneSpelling.test(path)) return path
  return path
    .replaceAll(/[^\x21-\x7e]+/g, (text) => encodeURIComponent(text.toWellFormed()))
    .replaceAll(/%[0-9a-f]{2}/gi, (octet) => {
      const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
      return /[\w.~-]/.test(character) ? character : octet.toUpperCase()
    })
}
