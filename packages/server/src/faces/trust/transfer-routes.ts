import { assertValid, compileSchema, type JsonObject } from '@switchboard/protocol'
import type { TransferOffer } from '../../policy/transfer.js'
import type { Context } from '../../services/context.js'
import type { Agent } from '../../services/registry/catalog.js'
import { acceptAgent, listOffers, offerAgent, readOffer, withdrawOffer } from '../../services/registry/transfer.js'
import { idOf, readJsonObject } from '../read-request.js'
import { sendJson } from '../respond.js'
import type { RouteGroup } from '../route-group.js'
import { component } from '../schemas/component.js'
import { list, object, text, time } from '../schemas/parts.js'
import { json } from '../schemas/response.js'

const transferSchema: JsonObject = {
  type: 'object',
  required: ['agent', 'to'],
  properties: { agent: { type: 'string', minLength: 1 }, to: { type: 'string', minLength: 1 } },
}
const checkTransfer = compileSchema(transferSchema)

const ownerSchema = object({ agent: text, owner: text })
const offerSchema = component('TransferOffer', object({ agent: text, from: text, to: text, expires_at: time }))

/** Handing agents over to other owners. Not below `/agents/{id}`, where agents have operations of any name. */
export function createTransferRoutes(context: Context): RouteGroup {
  return {
    name: 'transfers',
    summary: 'Handing an agent over to another owner',
    errors: 'application/json',
    routes: [
      {
        method: 'POST',
        path: '/transfers',
        summary: 'Offer one of your agents to another owner; an administrator transfers it at once',
        access: 'caller',
        limit: 'register',
        body: transferSchema,
        responses: {
          200: json('the agent has the new owner', ownerSchema),
          202: json('offered: the other one must accept', offerSchema),
          403: 'the agent belongs to another publisher',
          404: 'no such agent',
        },
        handle: async (request, reply) => {
          const body = readJsonObject(request)
          assertValid(checkTransfer(body))
          const transfer = await offerAgent(context, String(body.agent), String(body.to), request.caller)
          if ('offer' in transfer) return sendJson(reply.code(202), showOffer(transfer.offer))
          return sendJson(reply, showOwner(transfer.agent))
        },
      },
      {
        method: 'GET',
        path: '/transfers',
        summary: 'The open offers to you and from you; all of them for administrators',
        access: 'caller',
        limit: 'lookup',
        responses: { 200: json('the offers, the newest first', object({ transfers: list(offerSchema) })) },
        handle: async (request, reply) =>
          sendJson(reply.header('cache-control', 'no-store'), {
            transfers: (await listOffers(context, request.caller)).map(showOffer),
          }),
      },
      {
        method: 'GET',
        path: '/transfers/:id',
        summary: 'The offer of an agent, for those who take part in it',
        access: 'caller',
        limit: 'lookup',
        responses: { 200: json('the offer', offerSchema), 404: 'no such offer from or to you' },
        handle: async (request, reply) =>
          sendJson(
            reply.header('cache-control', 'no-store'),
            showOffer(await readOffer(context, idOf(request), request.caller)),
          ),
      },
      {
        method: 'POST',
        path: '/transfers/:id/accept',
        summary: 'Accept the offer of an agent: you own it from now on',
        access: 'caller',
        limit: 'register',
        responses: {
          200: json('the agent is yours', ownerSchema),
          403: 'you may not own an agent of this name',
          404: 'no such offer to you',
        },
        handle: async (request, reply) =>
          sendJson(reply, showOwner(await acceptAgent(context, idOf(request), request.caller))),
      },
      {
        method: 'DELETE',
        path: '/transfers/:id',
        summary: 'Withdraw your offer of an agent, or decline one that was made to you',
        access: 'caller',
        limit: 'register',
        responses: { 204: 'withdrawn or declined', 404: 'no such offer from or to you' },
        handle: async (request, reply) => {
          await withdrawOffer(context, idOf(request), request.caller)
          return reply.code(204).send()
        },
      },
    ],
  }
}

const showOffer = ({ agent, from, to, expiresAt }: TransferOffer): JsonObject => ({
  agent,
  from,
  to,
  expires_at: new Date(expiresAt).toISOString(),
})

const showOwner = ({ record, owner }: Agent): JsonObject => ({ agent: record.id, owner })
