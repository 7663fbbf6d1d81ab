/** Runs in the page: notes when results are painted, in milliseconds since the page was opened. */
export function observePage() {
  const seen = { first: undefined, changed: undefined }
  globalThis.seen = seen
  /** The frame after a change has been painted when the task after it runs. */
  const note = () =>
    requestAnimationFrame(() =>
      setTimeout(() => {
        seen.changed = performance.now()
        if (document.querySelector('article')) seen.first ??= seen.changed
      }),
    )
  const observe = () =>
    new MutationObserver((changes) => {
      if (changes.some(({ target }) => target instanceof Element && target.closest('main'))) note()
    }).observe(document, { childList: true, subtree: true, characterData: true })
  observe()
}

export const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
