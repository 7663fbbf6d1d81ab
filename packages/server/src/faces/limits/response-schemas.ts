import { LIMIT_NAMES } from '../../policy/limits.js'
import { component } from '../schemas/component.js'
import { count, list, object, oneOf, text, time } from '../schemas/parts.js'

const values = object(Object.fromEntries(LIMIT_NAMES.map((name) => [name, count])), ...LIMIT_NAMES)

export const ruleSchema = component(
  'LimitRule',
  object(
    { id: text, subject: text, scope: text, agent: text, limits: values, used: values, created_at: time },
    ...['subject', 'scope', 'agent', 'used'],
  ),
)

export const rulesSchema = object({ limits: list(ruleSchema), defaults: values })

export const ownLimitsSchema = object({
  subject: text,
  limits: list(
    object(
      {
        name: oneOf(...LIMIT_NAMES),
        limit: count,
        used: count,
        reset_seconds: { type: 'number', minimum: 0 },
        set_for: text,
      },
      ...['used', 'reset_seconds', 'set_for'],
    ),
  ),
})
