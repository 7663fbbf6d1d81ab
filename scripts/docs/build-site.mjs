// Builds the documentation site that the server serves at /docs, from docs/ and a few pages beside it.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { build } from 'esbuild'
import { toEditorSchema } from '../../packages/server/dist/config/editor-schema.js'
import { ROOT } from '../tree.mjs'
import { toApiHtml, toHtml } from './layout.mjs'
import { HOME, readNavigation, readPages } from './pages.mjs'
import { renderPage } from './render-page.mjs'
import { resolveLink, rootFrom } from './resolve-link.mjs'
import { hashedName } from './write-files.mjs'

const SITE = join(import.meta.dirname, 'site')
const VIEWER = createRequire(import.meta.url).resolve('swagger-ui-dist/swagger-ui-bundle.js')

/**
 * The files of the site by name, and problems: links that lead nowhere and pages that the navigation does not list.
 * A page has the name of its URL below `/docs` and the extension `.html`; the first one is `index.html`.
 */
export async function buildSite() {
  const pages = readPages()
  const files = new Map()
  const add = (name, content) => {
    const hashed = hashedName(name, content)
    files.set(hashed, content)
    return hashed
  }
  const rendered = renderAll(pages, (path) => add(basename(path), readFileSync(join(ROOT, path))))
  const navigation = resolveNavigation(pages)
  const assets = {
    style: add('site.css', await bundle('site.css')),
    script: add('site.js', await bundle('site.js')),
    search: add('search.js', await bundle('search.js')),
    index: add('search.json', searchRecords(rendered)),
    api: add('api.js', await bundle('api.js')),
    apiStyle: add('api.css', await bundle('api.css')),
    viewer: add('swagger-ui.js', readFileSync(VIEWER)),
  }
  const order = navigation.flatMap(({ items }) => items)
  for (const page of rendered.values()) {
    const at = order.findIndex((item) => item.page.slug === page.slug)
    const neighbours = at === -1 ? {} : { previous: order[at - 1], next: order[at + 1] }
    files.set(`${page.slug || 'index'}.html`, toHtml(page, { navigation, assets, ...neighbours }))
  }
  files.set('api.html', toApiHtml(assets))
  files.set('config.schema.json', `${JSON.stringify(toEditorSchema(), null, 2)}\n`)
  files.set('assets/LICENSE-swagger-ui.txt', readFileSync(`${VIEWER}.LICENSE.txt`))
  files.set('assets/LICENSE-minisearch.txt', readFileSync(join(ROOT, 'node_modules/minisearch/LICENSE.txt')))
  return { files, problems: [...linkProblems(rendered), ...unlistedPages(pages, order)] }
}

function renderAll(pages, addImage) {
  const rendered = new Map()
  for (const page of pages.values()) {
    const imageUrl = (path) => rootFrom(page.slug) + addImage(path)
    rendered.set(page.source, { ...page, ...renderPage(page, pages, imageUrl) })
  }
  return rendered
}

const resolveNavigation = (pages) =>
  readNavigation(pages.get(HOME).text).map(({ title, items }) => ({
    title,
    items: items.flatMap((item) => {
      const { page } = resolveLink(item.target, pages.get(HOME), pages)
      return page ? [{ title: item.title, page }] : []
    }),
  }))

/** Bundled and minified; the licences of libraries are kept. */
async function bundle(name) {
  const { outputFiles } = await build({
    entryPoints: [join(SITE, name)],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    legalComments: 'inline',
    logLevel: 'warning',
  })
  return outputFiles[0].contents
}

/** Long tables of which only the headings are searched. */
const NOT_SEARCHED = new Set(['docs/conformance.md'])

/** What the browser searches: `[slug, title, id, heading, text]` of each section. */
function searchRecords(rendered) {
  const records = []
  for (const { source, slug, title, sections } of rendered.values())
    for (const { id, heading, text } of sections)
      records.push([slug, title, id, heading, NOT_SEARCHED.has(source) ? '' : text.replaceAll(/\s+/g, ' ').trim()])
  return JSON.stringify(records)
}

function linkProblems(rendered) {
  return Array.from(rendered.values()).flatMap(({ source, links }) =>
    links.flatMap(({ href, problem, page, anchor }) => {
      if (problem) return [`${source}: ${href}: ${problem}`]
      const target = anchor ? rendered.get(page.source) : undefined
      return !target || target.headings.some(({ id }) => id === anchor)
        ? []
        : [`${source}: ${href}: ${page.source} has no heading with the id "${anchor}"`]
    }),
  )
}

function unlistedPages(pages, order) {
  const listed = new Set(order.map(({ page }) => page.source))
  return [...pages.keys()]
    .filter((source) => source !== HOME && !source.startsWith('docs/adr/') && !listed.has(source))
    .map((source) => `${source} is not in the navigation: add it to ${HOME}`)
}
