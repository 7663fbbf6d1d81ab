import { beforeAll, describe, expect, it } from 'vitest'
import { buildSite } from './build-site.mjs'
import { renderPage } from './render-page.mjs'

const render = (text, others = {}) => {
  const page = { source: 'docs/page.md', slug: 'page', text }
  const pages = new Map([
    ['docs/page.md', page],
    ['docs/README.md', { source: 'docs/README.md', slug: '', text: '# Home' }],
    ...Object.entries(others).map(([source, slug]) => [source, { source, slug, text: '' }]),
  ])
  return renderPage(page, pages, (path) => `assets/${path}`)
}

describe('the documentation site', () => {
  let site
  beforeAll(async () => {
    site = await buildSite()
  })
  const pageOf = (name) => String(site.files.get(name))

  it('has no dead link or anchor, and lists every page in the navigation', () => {
    expect(site.problems).toEqual([])
  })

  it('links only to pages and files that are part of it', () => {
    const names = [...site.files.keys()].filter((name) => name.endsWith('.html'))
    expect(names.length).toBeGreaterThan(40)
    for (const name of names) {
      const base = name === 'index.html' ? 'http://d/docs' : `http://d/docs/${name.slice(0, -'.html'.length)}`
      for (const [, to] of pageOf(name).matchAll(/(?:href|src|data-module|data-index)="([^"#]+)[^"]*"/g)) {
        const { origin, pathname } = new URL(to, base)
        if (origin !== 'http://d' || pathname === '/' || pathname === '/openapi.json') continue
        const [, path] = /^\/docs\/?(.*)$/.exec(pathname) ?? []
        const known = path === '' || site.files.has(path) || site.files.has(`${path}.html`)
        expect([name, to, known]).toEqual([name, to, true])
      }
    }
  })

  it('has unique ids and one first heading on every page', () => {
    for (const name of [...site.files.keys()].filter((each) => each.endsWith('.html'))) {
      const ids = Array.from(pageOf(name).matchAll(/ id="([^"]+)"/g), ([, id]) => id)
      expect([name, ids.filter((id, at) => ids.indexOf(id) !== at)]).toEqual([name, []])
      expect([name, pageOf(name).match(/<h1/g)?.length]).toEqual([name, 1])
    }
  })

  it('searches the text of every section', () => {
    const [, json] = [...site.files].find(([name]) => /^assets\/search-.*\.json$/.test(name))
    const records = JSON.parse(json)
    const section = records.find(([slug, , id]) => slug === 'running' && id === 'tokens')
    expect(section).toEqual(['running', 'Running a directory', 'tokens', 'Tokens', expect.stringContaining('EdDSA')])
    expect(pageOf('running.html')).toContain('id="tokens"')
  })
})

describe('a page', () => {
  it('gives headings the ids of GitHub, and numbers repeated ones', () => {
    const { headings, html } = render("# A\n\n## What's `new`, here?\n\n## Same\n\n## Same\n")
    expect(headings.map(({ id }) => id)).toEqual(['a', 'whats-new-here', 'same', 'same-1'])
    expect(html).toContain(
      '<h2 id="same-1">Same<a class="anchor" href="#same-1" aria-label="Link to “Same”">#</a></h2>',
    )
  })

  it('links to other pages as they are on the site, and to files as the repository shows them', () => {
    const { links } = render(
      '[a](other.md#x) [b](../SECURITY.md) [c](../package.json) [d](README.md) [e](https://e.example/)',
      {
        'docs/other.md': 'other',
        'SECURITY.md': 'security',
      },
    )
    expect(links.map(({ url }) => url)).toEqual([
      'other#x',
      'security',
      expect.stringMatching(/^https:\/\/.*\/blob\/main\/package\.json$/),
      '../docs',
      'https://e.example/',
    ])
  })

  it('reports links to files that do not exist', () => {
    expect(render('[a](nothing.md)').links[0].problem).toBe('docs/nothing.md does not exist')
  })

  it('escapes HTML, and highlights code by its language', () => {
    const { html } = render('<script>1</script>\n\n```ts no-run: reason\nconst a = 1\n```\n\n```\n<b>\n```\n')
    expect(html).toContain('&lt;script&gt;')
    expect(html).toContain('<span class="hljs-keyword">const</span>')
    expect(html).toContain('&lt;b&gt;')
  })
})
