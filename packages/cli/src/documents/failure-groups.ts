import type { DocumentResult } from './import-all.js'

/** Failures of an import, grouped by their reason: thousands may fail for the same one. */
export interface FailureGroups {
  add(failure: DocumentResult): void
  /** One line for each reason, with the first documents it applies to. */
  lines(): string[]
}

/** Documents that are named for each reason. */
const EXAMPLES = 3
/** Reasons that are told apart; further ones are counted together. */
const MAX_GROUPS = 100

interface Group {
  readonly message: string
  readonly from: string[]
  count: number
}

export function createFailureGroups(): FailureGroups {
  const groups = new Map<string, Group>()
  return {
    add({ from, message = 'no reason was given' }) {
      const reason = reasonOf(message)
      const key = groups.has(reason) || groups.size < MAX_GROUPS ? reason : ''
      const group = groups.get(key) ?? { message: key === '' ? 'various reasons' : message, from: [], count: 0 }
      groups.set(key, group)
      group.count++
      if (group.from.length < EXAMPLES) group.from.push(from)
    },
    lines: () => [...groups.values()].map(toLine),
  }
}

/** The message without what differs from document to document: quoted names, URLs and numbers. */
const reasonOf = (message: string): string =>
  message.replaceAll(/"[^"]*"|'[^']*'|“[^”]*”|\b\w[\w.+-]*:\/\/\S+|\d+/g, '…')

function toLine({ message, from, count }: Group): string {
  if (count === 1) return `${from[0]}: ${message}`
  const more = count > from.length ? ` and ${count - from.length} more` : ''
  return `${count} documents failed (${from.join(', ')}${more}): ${message}`
}
