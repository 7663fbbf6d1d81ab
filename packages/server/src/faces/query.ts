import { invalid } from '@switchboard/protocol'
import type { FastifyRequest } from 'fastify'

/** Query parameters in the order and number they were sent. */
export function readQuery(request: FastifyRequest): URLSearchParams {
  const at = request.url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : request.url.slice(at))
}

/** A whole number in a query parameter, not below `minimum`. */
export function wholeNumber(params: URLSearchParams, name: string, minimum: number): number | undefined {
  const text = params.get(name)
  if (text === null) return undefined
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= minimum)) throw invalid([{ at: `?${name}`, message: `must be a whole number, ${minimum} or more` }])
  return value
}
