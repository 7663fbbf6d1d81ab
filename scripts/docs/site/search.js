// Search in the documentation, in the browser: the texts of all sections are loaded and indexed on first use.
import MiniSearch from 'minisearch'

const MAX_RESULTS = 8
/** Characters of text around the first match. */
const EXCERPT = 110
/** Records of decisions come after guides that match about as well. */
const DECISION_WEIGHT = 0.4

/** Starts searching as the reader types. Resolves when the texts are loaded. */
export async function startSearch(form) {
  const [input, list, status] = ['input', '[role=listbox]', '[role=status]'].map((query) => form.querySelector(query))
  const response = await fetch(new URL(form.dataset.index, document.baseURI))
  const sections = (await response.json()).map(([slug, page, id, heading, text], at) => ({
    at,
    slug,
    page,
    id,
    heading,
    text,
  }))
  const index = new MiniSearch({
    idField: 'at',
    fields: ['heading', 'page', 'text'],
    searchOptions: {
      boost: { heading: 4, page: 2 },
      prefix: (_term, position, terms) => position === terms.length - 1,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
      boostDocument: (at) => (sections[at].slug.startsWith('adr') ? DECISION_WEIGHT : 1),
    },
  })
  index.addAll(sections)
  let selected = -1

  function show() {
    const found = input.value.trim() === '' ? [] : find(input.value)
    selected = -1
    list.replaceChildren(...found.map((hit, at) => toOption(hit, at)))
    const isOpen = found.length > 0
    list.hidden = !isOpen
    input.setAttribute('aria-expanded', String(isOpen))
    input.removeAttribute('aria-activedescendant')
    status.textContent =
      input.value.trim() === '' ? '' : found.length === 0 ? 'Nothing found' : `${found.length} results`
    form.classList.toggle('nothing', input.value.trim() !== '' && found.length === 0)
  }

  function find(text) {
    const all = index.search(text)
    // Rather some of the words than nothing.
    return (all.length > 0 ? all : index.search(text, { combineWith: 'OR' })).slice(0, MAX_RESULTS)
  }

  function toOption({ id: at, terms }, position) {
    const { slug, page, id, heading, text } = sections[at]
    const option = document.createElement('li')
    option.id = `result-${position}`
    option.setAttribute('role', 'option')
    option.setAttribute('aria-selected', 'false')
    option.dataset.url = (slug === '' ? form.dataset.home : form.dataset.root + slug) + (id === '' ? '' : `#${id}`)
    const title = document.createElement('b')
    title.textContent = heading
    const where = document.createElement('small')
    where.textContent = heading === page ? '' : ` ${page}`
    option.append(title, where, excerptOf(text, terms))
    return option
  }

  function select(next) {
    const options = list.children
    if (options.length === 0) return
    options[selected]?.setAttribute('aria-selected', 'false')
    selected = (next + options.length) % options.length
    options[selected].setAttribute('aria-selected', 'true')
    options[selected].scrollIntoView({ block: 'nearest' })
    input.setAttribute('aria-activedescendant', options[selected].id)
  }

  const open = (option) => {
    if (!option) return
    list.hidden = true
    input.setAttribute('aria-expanded', 'false')
    location.href = new URL(option.dataset.url, document.baseURI).href
  }

  input.addEventListener('input', show)
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') select(selected + 1)
    else if (event.key === 'ArrowUp') select(selected - 1)
    else if (event.key === 'Enter') open(list.children[Math.max(selected, 0)])
    else if (event.key === 'Escape') {
      input.value = ''
      show()
      return
    } else return
    event.preventDefault()
  })
  list.addEventListener('mousedown', (event) => event.preventDefault()) // the field keeps the focus
  list.addEventListener('click', (event) => open(event.target.closest('li')))
  input.addEventListener('blur', () => {
    list.hidden = true
    input.setAttribute('aria-expanded', 'false')
  })
  input.addEventListener('focus', show)
  show()
}

/** The text around the first word that matched, which is marked. */
function excerptOf(text, terms) {
  const line = document.createElement('span')
  const lower = text.toLowerCase()
  const term = terms.find((each) => lower.includes(each)) ?? ''
  const at = term === '' ? 0 : lower.indexOf(term)
  const from = Math.max(0, at - EXCERPT / 2)
  const mark = document.createElement('mark')
  mark.textContent = text.slice(at, at + term.length)
  line.append((from > 0 ? '…' : '') + text.slice(from, at), mark, text.slice(at + term.length, at + EXCERPT))
  return line
}
