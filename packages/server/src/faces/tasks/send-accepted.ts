import type { FastifyReply } from 'fastify'
import type { Task } from '../../services/tasks/tasks.js'
import { sendJson } from '../answer.js'

/** Answers that a call was taken on and will be done later (AURI §8, C-62). */
export function sendAccepted(reply: FastifyReply, { id, status, pollInterval }: Task): FastifyReply {
  reply.header('location', `/tasks/${id}`).header('retry-after', String(pollInterval))
  return sendJson(reply.code(202).header('cache-control', 'no-store'), { taskId: id, status, pollInterval })
}
