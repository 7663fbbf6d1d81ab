import type { Credentials } from '../auth/authenticate.js'
import type { Exchange } from './exchange.js'

/** The credentials of a request; never from the query, which ends up in logs (AURI §10). */
export function credentialsOf({ request, place }: Pick<Exchange, 'request' | 'place'>): Credentials {
  return {
    authorization: request.headers.get('authorization') ?? undefined,
    apiKey: request.headers.get('x-api-key') ?? undefined,
    certificate: place.certificate,
    address: place.address ?? 'unknown',
  }
}
