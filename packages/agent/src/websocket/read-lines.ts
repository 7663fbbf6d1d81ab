import { AgentError } from '../errors.js'

/**
 * Puts lines together out of messages: a line may come in pieces, a message may hold several, and one that ends like a
 * JSON value at the start of a line needs no newline (AURI §8).
 */
export function createLineReader(maxLength: number): (message: string) => string[] {
  let rest: string[] = []
  let length = 0
  return (message) => {
    const isWhole = rest.length === 0 && !message.includes('\n') && /^\s*\{/.test(message) && isJson(message)
    const [first = '', ...more] = (isWhole ? `${message}\n` : message).split('\n')
    rest.push(first)
    length += first.length
    if (length > maxLength) throw new AgentError('payload_too_large', `a line is longer than ${maxLength} characters`)
    if (more.length === 0) return []
    const last = more.pop() ?? ''
    const lines = [rest.join(''), ...more]
    rest = last === '' ? [] : [last]
    length = last.length
    return lines.filter((line) => line.trim() !== '')
  }
}

function isJson(text: string): boolean {
  if (!/\}\s*$/.test(text)) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
