import { component } from '../schemas/component.js'
import { verificationSchema } from '../schemas/documents.js'
import { anyObject, counts, list, object, oneOf, text, texts } from '../schemas/parts.js'
import { scoreSchema, spellingMembers } from '../schemas/search.js'

const candidate = object({
  id: text,
  name: text,
  description: text,
  score: scoreSchema,
  endpoints: list(object({ protocol: text, endpoint: text })),
  invocation: object(
    {
      method: oneOf('POST'),
      url: text,
      content_type: text,
      authentication: object({ type: text, instructions: text }, 'instructions'),
      operations: list(
        object({ name: text, description: text, input_schema: anyObject, output_schema: anyObject }, 'description'),
      ),
      hint: text,
    },
    'hint',
  ),
  verification: verificationSchema,
})

export const resolutionSchema = component(
  'Resolution',
  object(
    {
      request_id: text,
      candidates: list(component('ResolvedAgent', candidate)),
      search_id: text,
      excluded: counts,
      applied_policy: texts,
      unsupported_policy: texts,
      ...spellingMembers,
      warnings: texts,
    },
    ...['search_id', 'unsupported_policy', ...Object.keys(spellingMembers), 'warnings'],
  ),
)
