// Where a link in a page leads on the site.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { ROOT } from '../tree.mjs'

const { repository } = JSON.parse(readFileSync(join(ROOT, 'packages/server/package.json'), 'utf8'))
/** Files that are no pages, such as examples, are shown by the repository's host. */
const REPOSITORY = repository.url.replace(/^git\+/, '').replace(/\.git$/, '')

/** Of links that leave the repository. */
const ABSOLUTE = /^[a-z][a-z+.-]*:/i

/** What leads from a page to the root of the site, `/docs`: relative, so that a proxy can serve it below another path. */
export const rootFrom = (slug) => (slug === '' ? 'docs/' : '../'.repeat(slug.split('/').length - 1))

/** The URL of one page relative to another. */
export const urlOf = (from, to) =>
  to === '' ? `${from === '' ? '' : '../'.repeat(from.split('/').length)}docs` : rootFrom(from) + to

/**
 * Resolves a link: `{url}`, with `page` and `anchor` if it leads to a page, `image` if it names a file that belongs to the
 * documentation, or `problem` if it leads nowhere.
 */
export function resolveLink(href, from, pages) {
  if (ABSOLUTE.test(href)) return { url: href }
  const [path, anchor = ''] = href.split('#')
  const hash = anchor === '' ? '' : `#${anchor}`
  if (path === '') return { url: hash, page: from, anchor }
  const folder = from.source.endsWith('.md') ? dirname(from.source) : from.source
  const target = normalize(join(folder, decodeURI(path))).replace(/\/$/, '')
  const page = pages.get(target === 'docs' ? 'docs/README.md' : target)
  if (page) return { url: urlOf(from.slug, page.slug) + hash, page, anchor }
  const shown = (kind) => `${REPOSITORY}/${kind}/main/${target}${hash}`
  if (!existsSync(join(ROOT, target))) return { url: shown('blob'), problem: `${target} does not exist` }
  if (/\.(png|svg|webp|gif)$/.test(target)) return { url: target, image: target }
  return { url: shown(statSync(join(ROOT, target)).isDirectory() ? 'tree' : 'blob') }
}
