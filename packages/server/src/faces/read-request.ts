import { DirectoryError, invalid, isObject, subjectProblem } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'

/** The `id` parameter of the path. */
export function idOf({ params }: FastifyRequest): string {
  return isObject(params) ? String(params.id) : ''
}

/** The path of the URL, without the query. */
export const pathOf = (request: FastifyRequest): string => request.url.split('?')[0] ?? ''

/** Query parameters in the order they were sent, repeated ones included. */
export function readQuery(request: FastifyRequest): URLSearchParams {
  const at = request.url.indexOf('?')
  const query = at < 0 ? '' : request.url.slice(at + 1)
  assertEncoded(query)
  return new URLSearchParams(query)
}

/** URLSearchParams replaces invalid UTF-8 with U+FFFD, which would store a name that nobody sent. */
function assertEncoded(query: string): void {
  if (!query.includes('%')) return
  try {
    decodeURIComponent(query)
  } catch (cause) {
    throw new DirectoryError('invalid_request', 'the query is not valid percent-encoded UTF-8', { cause })
  }
}

/** Reads a whole number of at least `minimum` from a query parameter. */
export function wholeNumber(params: URLSearchParams, name: string, minimum: number): number | undefined {
  const text = params.get(name)
  if (text === null) return undefined
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= minimum)) throw invalid([{ at: `?${name}`, message: `must be a whole number, ${minimum} or more` }])
  return value
}

/** The `owner` parameter: administrators may register on behalf of another subject. */
export function readOwner(params: URLSearchParams): string | undefined {
  const owner = params.get('owner')
  if (owner === null) return undefined
  const problem = subjectProblem(owner)
  if (problem !== undefined) throw invalid([{ at: '?owner', message: problem }])
  return owner
}
