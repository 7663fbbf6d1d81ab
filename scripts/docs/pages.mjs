// Which pages the documentation site has, and how they are grouped. docs/README.md is both the first page and the navigation.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { below, isFile, ROOT } from '../tree.mjs'

/** The first page. Its sections and their lists are the navigation. */
export const HOME = 'docs/README.md'

/** The list of decision records, which is generated: its source is a folder. */
export const DECISIONS = 'docs/adr'

/** Pages from outside `docs/`, with their names on the site. */
const OUTSIDE = { 'SECURITY.md': 'security', 'CHANGELOG.md': 'changelog', 'CONTRIBUTING.md': 'contributing' }

/** A list item of the navigation: `- [Title](target): what it is about`. */
const NAVIGATION_ITEM = /^- \[([^\]]+)\]\(([^)#]+)\)/gm

/**
 * All pages by their source, a path in the repository: `{source, slug, text}`. The slug is the path on the site below
 * `/docs`, and empty for the first page.
 */
export function readPages() {
  const inDocs = [...below(join(ROOT, 'docs'))]
    .map(({ path }) => path.slice(ROOT.length))
    .filter((path) => path.endsWith('.md'))
  const pages = new Map()
  for (const source of [...inDocs.sort(), ...Object.keys(OUTSIDE)]) {
    const slug = source === HOME ? '' : (OUTSIDE[source] ?? source.slice('docs/'.length, -'.md'.length))
    pages.set(source, { source, slug, text: readFileSync(join(ROOT, source), 'utf8') })
  }
  pages.set(DECISIONS, { source: DECISIONS, slug: 'adr', text: listDecisions(pages) })
  return pages
}

/** Sections of the navigation: `{title, items: [{title, target}]}`. */
export function readNavigation(home) {
  return home
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      title: section.slice(0, section.indexOf('\n')),
      items: Array.from(section.matchAll(NAVIGATION_ITEM), ([, title, target]) => ({ title, target })),
    }))
    .filter(({ items }) => items.length > 0)
}

function listDecisions(pages) {
  const lines = readdirSync(join(ROOT, DECISIONS))
    .filter((name) => isFile(join(ROOT, DECISIONS, name)) && name.endsWith('.md'))
    .sort()
    .map((name) => `- [${titleOf(pages.get(`${DECISIONS}/${name}`).text)}](${name})`)
  return `# Decisions\n\nWhat was costly to reverse, with the reasons.\n\n${lines.join('\n')}\n`
}

/** The first heading. */
export const titleOf = (text) => /^# (.+)$/m.exec(text)?.[1].replaceAll('`', '') ?? 'Switchboard'
