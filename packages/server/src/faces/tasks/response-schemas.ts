import { component } from '../schemas/component.js'
import { anyObject, anything, count, object, oneOf, text, time } from '../schemas/parts.js'

const status = oneOf('pending', 'running', 'completed', 'failed', 'cancelled')

export const taskSchema = component(
  'Task',
  object(
    {
      taskId: text,
      status,
      agent: text,
      operation: text,
      sessionId: text,
      createdAt: time,
      updatedAt: time,
      expiresAt: time,
      pollInterval: { type: 'integer', minimum: 1 },
      progress: object({ fraction: { type: 'number', minimum: 0, maximum: 1 }, message: text }, 'message'),
      httpStatus: { type: 'integer' },
      result: anything,
      error: anyObject,
      /** Whether the agent was told to stop. */
      cancellation: object(
        { state: oneOf('waiting', 'confirmed', 'refused', 'failed', 'stopped'), attempts: count },
        'attempts',
      ),
      callback: object({ state: oneOf('waiting', 'delivered', 'failed'), attempts: count }),
    },
    ...['sessionId', 'pollInterval', 'progress', 'httpStatus', 'result', 'error', 'cancellation', 'callback'],
  ),
)

/** The body of 202: the call is deferred. */
export const acceptedSchema = component(
  'AcceptedTask',
  object({ taskId: text, status, pollInterval: { type: 'integer', minimum: 1 } }),
)
