// What every page of the documentation does in the browser: copy buttons, scrolling by keyboard, and loading the search.

/** Milliseconds for which a button says that the text was copied. */
const CONFIRMATION_MS = 2000

for (const block of document.querySelectorAll('pre')) addCopyButton(block)
const scrollers = document.querySelectorAll('pre, .scroll')
markScrollers()
addEventListener('resize', markScrollers)
prepareSearch(document.querySelector('.search'))

function addCopyButton(block) {
  if (!navigator.clipboard) return // not on plain HTTP beyond this machine
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  const said = document.createElement('span')
  said.className = 'visually-hidden'
  said.setAttribute('role', 'status')
  const frame = document.createElement('div')
  frame.className = 'code'
  block.replaceWith(frame)
  frame.append(block, button, said)
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.textContent.trimEnd())
    button.textContent = 'Copied'
    said.textContent = 'Copied to the clipboard'
    setTimeout(() => {
      button.textContent = 'Copy'
      said.textContent = ''
    }, CONFIRMATION_MS)
  })
}

/** Code and tables that are wider than the page can be scrolled with the keyboard. */
function markScrollers() {
  for (const element of scrollers) {
    if (element.scrollWidth > element.clientWidth) element.tabIndex = 0
    else element.removeAttribute('tabindex')
  }
}

/** The search and its texts are loaded when somebody is about to use them. */
function prepareSearch(form) {
  form.hidden = false
  const input = form.querySelector('input')
  form.addEventListener('submit', (event) => event.preventDefault())
  const load = async () => {
    input.removeEventListener('focus', load)
    const { startSearch } = await import(new URL(form.dataset.module, document.baseURI).href)
    await startSearch(form)
  }
  input.addEventListener('focus', load)
  addEventListener('keydown', (event) => {
    const isTyping =
      event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]')
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    input.focus()
  })
}
