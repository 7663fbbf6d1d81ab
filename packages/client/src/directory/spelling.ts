import { asObjects, asStrings, isObject } from '@switchboard/protocol/json'
import type { DirectoryResponse } from './requester.js'

/** A word of a query, and what the directory searched for instead. */
export interface Correction {
  readonly from: string
  readonly to: string
}

/** What a directory says about the spelling of a query: in the body, or in headers if the body is an array. */
export function readSpelling({ body, headers }: Pick<DirectoryResponse, 'body' | 'headers'>): {
  corrected: Correction[]
  suggestions: string[]
} {
  if (isObject(body)) {
    const corrected = asObjects(body.corrected).flatMap(({ from, to }) =>
      typeof from === 'string' && typeof to === 'string' ? [{ from, to }] : [],
    )
    return { corrected, suggestions: asStrings(body.suggestions) }
  }
  const pairs = new URLSearchParams(headers.get('x-switchboard-corrected') ?? '')
  return {
    corrected: Array.from(pairs, ([from, to]) => ({ from, to })),
    suggestions: (headers.get('x-switchboard-suggestions') ?? '').split(', ').flatMap(decode),
  }
}

/** A header of another server may not be encoded as ours are. */
function decode(text: string): string[] {
  try {
    return text === '' ? [] : [decodeURIComponent(text)]
  } catch {
    return []
  }
}
