// Turns a Markdown page into HTML: anchors for headings, highlighted code, links that work on the site.
import hljs from 'highlight.js/lib/core'
import bash from 'highlight.js/lib/languages/bash'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import plaintext from 'highlight.js/lib/languages/plaintext'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import markdownIt from 'markdown-it'
import { resolveLink } from './resolve-link.mjs'

for (const [name, language] of Object.entries({ bash, javascript, json, plaintext, typescript, xml, yaml }))
  hljs.registerLanguage(name, language)

const markdown = markdownIt({ html: false, linkify: false, highlight })
const { escapeHtml } = markdown.utils

export { escapeHtml }

/** The info string may have more words: marks for the test that runs the code. */
function highlight(code, info) {
  const [language] = info.split(/\s+/)
  return hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : ''
}

markdown.renderer.rules.table_open = () => '<div class="scroll"><table>'
markdown.renderer.rules.table_close = () => '</table></div>'

/**
 * Renders a page: `{html, title, headings: [{level, id, text}], sections: [{id, heading, text}], links}`. `links` are
 * resolved links; `assetUrl` names the URL of an image.
 */
export function renderPage(page, pages, assetUrl) {
  const tokens = markdown.parse(page.text, {})
  const [ids, headings, links] = [new Map(), [], []]
  const sections = [{ id: '', heading: '', text: '' }]
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const text = textOf(tokens[at + 1])
      const id = uniqueId(text, ids)
      const level = Number(token.tag.slice(1))
      headings.push({ level, id, text })
      token.attrSet('id', id)
      if (level > 1) sections.push({ id, heading: text, text: '' })
      if (level > 1) addAnchor(tokens[at + 1], id, text)
      else sections[0].heading = text
    } else if (token.type === 'inline' && tokens[at - 1]?.type !== 'heading_open')
      sections.at(-1).text += `${textOf(token)} `
    else if (token.type === 'fence') sections.at(-1).text += `${token.content} `
    for (const child of token.children ?? []) rewrite(child, { page, pages, links, assetUrl })
  }
  const html = markdown.renderer.render(tokens, markdown.options, {})
  return { html, title: headings[0]?.text ?? '', headings, sections, links }
}

function rewrite(token, { page, pages, links, assetUrl }) {
  const name = { link_open: 'href', image: 'src' }[token.type]
  if (!name || token.meta?.anchor) return
  const link = resolveLink(token.attrGet(name), page, pages)
  links.push({ ...link, href: token.attrGet(name) })
  token.attrSet(name, link.image ? assetUrl(link.image) : link.url)
  if (token.type === 'image') token.attrSet('loading', 'lazy')
}

/** A link to the heading itself, after its text. */
function addAnchor(inline, id, text) {
  const { constructor: Token } = inline
  const open = new Token('link_open', 'a', 1)
  open.attrs = [
    ['class', 'anchor'],
    ['href', `#${id}`],
    ['aria-label', `Link to “${text}”`],
  ]
  open.meta = { anchor: true }
  const sign = new Token('text', '', 0)
  sign.content = '#'
  inline.children.push(open, sign, new Token('link_close', 'a', -1))
}

/** The text without marks. */
const textOf = ({ children }) =>
  children
    .filter(({ type }) => type === 'text' || type === 'code_inline' || type === 'softbreak')
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : content))
    .join('')

/** The id that GitHub gives a heading, so that links work there and here. */
function uniqueId(text, ids) {
  const id = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
  const count = ids.get(id) ?? 0
  ids.set(id, count + 1)
  return count === 0 ? id : `${id}-${count}`
}
