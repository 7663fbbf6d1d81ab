import { describe, expect, it } from 'vitest'
import { MAX_ROBOTS_BYTES, parseRobots } from './robots.js'

const allowed = (robots: string, path = '/.well-known/agent.json'): boolean =>
  parseRobots(robots, 'Switchboard').isAllowed(path)

describe('robots.txt', () => {
  it('allows everything if it is empty, has no group for us, or only empty rules', () => {
    for (const text of ['', 'User-agent: other\nDisallow: /', 'User-agent: *\nDisallow:\n', '<html>not found</html>'])
      expect(allowed(text), text).toBe(true)
  })

  it('applies the group of our product, whatever its case, version or place; otherwise that for everybody', () => {
    const text = 'User-agent: *\nDisallow: /\n\nUser-Agent: switchboard/2.0\nDisallow: /private\n'
    expect(allowed(text)).toBe(true)
    expect(allowed(text, '/private/x')).toBe(false)
    expect(allowed('User-agent: switchboards\nDisallow: /')).toBe(true)
    expect(allowed('User-agent: a\nUser-agent: *\nDisallow: /')).toBe(false)
  })

  it('merges groups for the same product', () => {
    const text =
      'User-agent: Switchboard\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: Switchboard\nDisallow: /b'
    expect([allowed(text, '/a'), allowed(text, '/b'), allowed(text, '/c')]).toEqual([false, false, true])
  })

  it('lets the longest match decide, and an allow if both are equally long', () => {
    const text = 'User-agent: *\nDisallow: /\nAllow: /.well-known/\nDisallow: /.well-known/agent.json$'
    expect(allowed(text)).toBe(false)
    expect(allowed(text, '/.well-known/agents.json')).toBe(true)
    expect(allowed('User-agent: *\nDisallow: /page\nAllow: /page', '/page')).toBe(true)
  })

  it.each([
    ['/fish', '/fish.html', true],
    ['/fish', '/Fish', false],
    ['/*.json$', '/a/b.json', true],
    ['/*.json$', '/a.json?x=1', false],
    ['*agent*json', '/x/agents.json', true],
    ['/a*a$', '/a', false],
    ['/a*a$', '/aa', true],
    ['/$', '/', true],
    ['/$', '/x', false],
    ['/a**b', '/a-b', true],
    ['/%7ejoe', '/~joe/card', true],
    ['/ü', '/%c3%bc', true],
    ['/a%2fb', '/a%2Fb', true],
    ['/a%2fb', '/a/b', false],
    ['/x?id=', '/x?id=3', true],
  ])('the pattern %s matches %s: %s', (pattern, path, isMatch) => {
    expect(allowed(`User-agent: *\nDisallow: ${pattern}`, path)).toBe(!isMatch)
  })

  it('ignores comments, unknown lines, a byte order mark, and kinds of line ends', () => {
    expect(allowed('\ufeffUser-agent: * # all\r\nSitemap: https://x.example/\rFoo\nDisallow: / # everything')).toBe(
      false,
    )
  })

  it('always allows robots.txt itself', () => {
    expect(allowed('User-agent: *\nDisallow: /', '/robots.txt')).toBe(true)
  })

  it('reads a delay between requests', () => {
    expect(parseRobots('User-agent: *\nCrawl-delay: 2.5', 'Switchboard').delayMs).toBe(2500)
    expect(parseRobots('User-agent: *\nCrawl-delay: soon', 'Switchboard').delayMs).toBeUndefined()
  })

  it('takes little time for the worst of the largest file', () => {
    const rule = `Disallow: /${'*aaaaab'.repeat(2)}\n`
    const text = `User-agent: *\n${rule.repeat(MAX_ROBOTS_BYTES / rule.length)}`
    const robots = parseRobots(text, 'Switchboard')
    const start = performance.now()
    expect(robots.isAllowed(`/${'a'.repeat(1000)}`)).toBe(true)
    expect(performance.now() - start).toBeLessThan(10_000)
  })
})
