import { ERROR_KINDS, type JsonObject } from '@switchboard/protocol'
import type { RouteGroup } from '../route-group.js'
import { component } from './component.js'
import { anything, list, object, text } from './parts.js'
import type { DescribedResponse } from './response.js'

/** The body of an error, which clients of all drafts can read; other members belong to single errors (C-68). */
const errorBody = (details: JsonObject): JsonObject => ({
  ...object(
    {
      type: text,
      title: text,
      status: { type: 'integer' },
      detail: text,
      instance: text,
      error: object(
        {
          // Not an enum: agents' own codes are passed on (C-97).
          code: { ...text, examples: [...new Set(Object.values(ERROR_KINDS).map(({ name }) => name))] },
          message: text,
          details,
        },
        'details',
      ),
      code: { ...text, examples: Object.keys(ERROR_KINDS) },
      message: text,
      correlation_id: text,
      retry_after: { type: 'number' },
    },
    'retry_after',
  ),
  additionalProperties: true,
})

/** The body of every error of the directory. */
export const errorSchema = component('Error', errorBody(list(object({ member: text, message: text }))))

/** The body of an error of a call: agents have details of their own. */
export const callErrorSchema = component('CallError', errorBody(anything))

/** An error in the media type of the route group; clients of the others may ask for problem details too. */
export const errorResponse = ({ errors }: Pick<RouteGroup, 'errors'>, description: string): DescribedResponse => ({
  description,
  content: { [errors]: errorSchema, 'application/problem+json': errorSchema },
})
