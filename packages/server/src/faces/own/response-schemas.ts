import { DOCUMENT_FORMATS } from '@switchboard/protocol'
import { summaryMembers } from '../aidip/response-schemas.js'
import { component } from '../schemas/component.js'
import { anyObject, count, list, object, oneOf, text, time } from '../schemas/parts.js'

const ownAgent = component(
  'OwnAgent',
  object(
    {
      ...summaryMembers,
      format: oneOf(...DOCUMENT_FORMATS),
      visibility: text,
      modified_at: time,
      expires_at: time,
      warnings: list(anyObject),
    },
    ...['origin_service', 'expires_at', 'warnings'],
  ),
)

export const ownAgentsSchema = object({ agents: list(ownAgent), count })
