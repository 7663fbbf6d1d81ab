import { DirectoryError, invalid, subjectProblem } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'

/** Query parameters in the order and number they were sent. */
export function readQuery(request: FastifyRequest): URLSearchParams {
  const at = request.url.indexOf('?')
  const query = at < 0 ? '' : request.url.slice(at + 1)
  assertEncoded(query)
  return new URLSearchParams(query)
}

/** URLSearchParams puts U+FFFD where bytes are not UTF-8: a name would be stored that nobody sent. */
function assertEncoded(query: string): void {
  if (!query.includes('%')) return
  try {
    decodeURIComponent(query)
  } catch (cause) {
    throw new DirectoryError('invalid_request', 'the query is not valid percent-encoded UTF-8', { cause })
  }
}

/** A whole number in a query parameter, not below `minimum`. */
export function wholeNumber(params: URLSearchParams, name: string, minimum: number): number | undefined {
  const text = params.get(name)
  if (text === null) return undefined
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= minimum)) throw invalid([{ at: `?${name}`, message: `must be a whole number, ${minimum} or more` }])
  return value
}

/** Whose an agent is to be, where an administrator says so. */
export function readOwner(params: URLSearchParams): string | undefined {
  const owner = params.get('owner')
  if (owner === null) return undefined
  const problem = subjectProblem(owner)
  if (problem !== undefined) throw invalid([{ at: '?owner', message: problem }])
  return owner
}
