import { DESCRIPTOR_TYPES, type JsonObject } from '@switchboard/protocol'
import { component } from '../schemas/component.js'
import { list, object, text } from '../schemas/parts.js'
import type { DescribedResponse } from '../schemas/response.js'

/** A document in each of the media types that callers can ask for. */
export const asDescriptor = (description: string, schema: JsonObject): DescribedResponse => ({
  description,
  content: Object.fromEntries(DESCRIPTOR_TYPES.map((type) => [type, schema])),
})

export const agentsIndexSchema = object({ agents: { type: 'object', additionalProperties: text } })

/** A public key of this directory (RFC 8037). */
export const publicKeySchema = component(
  'PublicKey',
  object({ kty: text, crv: text, x: text, kid: text, use: text, alg: text }),
)

export const keySetSchema = object({ keys: list(publicKeySchema) })
