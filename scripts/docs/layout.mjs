// The HTML around the content of a page. It needs no script: scripts add search and copy buttons.
import { escapeHtml } from './render-page.mjs'
import { rootFrom, urlOf } from './resolve-link.mjs'

/** A page of text as it is served. `assets` are the names of the built files, `next` and `previous` other pages. */
export function toHtml({ slug, title, html, headings }, { navigation, assets, previous, next }) {
  const list = navigationList(navigation, slug)
  return frame({
    slug,
    title: slug === '' ? 'Switchboard documentation' : `${title} · Switchboard`,
    assets,
    body: `<div class="columns">
<nav class="pages" aria-label="Pages">${list}</nav>
<details class="menu"><summary>All pages</summary><nav aria-label="Pages">${list}</nav></details>
<main id="site-content" tabindex="-1">
<article>
${html}</article>
${neighbours({ slug, previous, next })}</main>
${tableOfContents(headings)}</div>`,
  })
}

/** The page of the API reference. Its script shows the OpenAPI document of the directory that serves the page. */
export function toApiHtml(assets) {
  return frame({
    slug: 'api',
    title: 'API reference · Switchboard',
    assets,
    head: `<link rel="stylesheet" href="${assets.apiStyle}">
<script defer src="${assets.viewer}"></script>
<script type="module" src="${assets.api}"></script>
`,
    body: `<div class="columns api">
<main id="site-content" tabindex="-1">
<h1>API reference</h1>
<p>Generated from <a href="../openapi.json"><code>/openapi.json</code></a> of this directory. <em>Authorize</em> with an API key to try
the operations that need one. <a href="reference/errors">Errors</a> have the same body everywhere.</p>
<div id="site-api" data-root="../" aria-busy="true"><noscript>The reference needs JavaScript; the OpenAPI document does not.</noscript></div>
</main>
</div>`,
  })
}

function frame({ slug, title, assets, head = '', body }) {
  const root = rootFrom(slug)
  const consoleUrl = slug === '' ? './' : '../'.repeat(slug.split('/').length)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${head}<link rel="stylesheet" href="${root}${assets.style}">
<script type="module" src="${root}${assets.script}"></script>
</head>
<body>
<a class="skip" href="#site-content">Skip to the content</a>
<header>
<p class="brand"><a href="${consoleUrl}">Switchboard</a> <a href="${urlOf(slug, '')}">Docs</a></p>
<form class="search" role="search" hidden data-module="${root}${assets.search}" data-index="${root}${assets.index}" data-root="${root}" data-home="${urlOf(slug, '')}">
<label for="site-search" class="visually-hidden">Search the documentation</label>
<input id="site-search" type="search" placeholder="Search" autocomplete="off" spellcheck="false" role="combobox"
 aria-expanded="false" aria-controls="site-results" aria-autocomplete="list" aria-keyshortcuts="/">
<ul id="site-results" role="listbox" aria-label="Results" hidden></ul>
<p class="visually-hidden" role="status"></p>
</form>
<p class="api"><a href="${urlOf(slug, 'api')}">API</a></p>
</header>
${body}
</body>
</html>
`
}

function navigationList(navigation, slug) {
  const item = ({ title, page }) =>
    `<li><a href="${urlOf(slug, page.slug)}"${page.slug === slug ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`
  return navigation
    .map(({ title, items }) => `<h2>${escapeHtml(title)}</h2>\n<ul>\n${items.map(item).join('\n')}\n</ul>`)
    .join('\n')
}

/** The sections of a long page. */
function tableOfContents(headings) {
  const shown = headings.filter(({ level }) => level === 2)
  if (shown.length < 3) return ''
  const items = shown.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
  return `<aside class="contents"><nav aria-labelledby="site-contents"><h2 id="site-contents">On this page</h2>
<ul>\n${items.join('\n')}\n</ul></nav></aside>\n`
}

function neighbours({ slug, previous, next }) {
  if (!previous && !next) return ''
  const link = (item, label, rel) =>
    item
      ? `<a rel="${rel}" href="${urlOf(slug, item.page.slug)}"><span class="label">${label}</span>${escapeHtml(item.title)}</a>`
      : '<span></span>'
  return `<nav class="neighbours" aria-label="Previous and next page">${link(previous, 'Previous', 'prev')}${link(next, 'Next', 'next')}</nav>\n`
}
