// A travel planner finds a translator in the directory and hands a part of its task on to it. The translator works for
// known people only: the chain of delegation proves who gave the task, and through whom it came.
import assert from 'node:assert/strict'
import { createAgent } from '@switchboard/agent'
import { createClient, invokeAgent } from '@switchboard/client'
import { startDirectory } from '../start-directory.mjs'
import { makeKey, makePerson } from './person.mjs'

/** All of this happens on one computer, by plain HTTP; on the open Internet neither is needed. */
const ON_THIS_COMPUTER = { allowPrivate: true, outgoing: { httpLoopback: true } }
const PHRASES = { 'Where is the station?': 'Où est la gare ?', 'Thank you': 'Merci' }
const PHRASE_LIST = {
  type: 'object',
  properties: { phrases: { type: 'array', items: { type: 'string' } } },
  required: ['phrases'],
}

const directory = await startDirectory()
const client = createClient({ baseUrl: directory.url, token: directory.key })
const person = makePerson()
/** What the translator was shown. */
const delegations = []
const chains = []

const translator = createAgent({
  name: 'translator',
  version: '1.2.0',
  description: 'Translates phrases for travellers from English to French.',
  capabilities: [
    {
      name: 'translate',
      input: PHRASE_LIST,
      output: PHRASE_LIST,
      handler: ({ phrases }, { delegation }) => {
        delegations.push(delegation)
        return { phrases: phrases.map((phrase) => PHRASES[phrase] ?? phrase) }
      },
    },
  ],
  delegation: { required: true },
  allow: ({ delegation }) => delegation?.hops[0]?.issuer === person.did,
  ...ON_THIS_COMPUTER,
})

const planner = createAgent({
  name: 'travel-planner',
  version: '1.0.0',
  description: 'Plans a day in a city, with the phrases one needs there.',
  key: makeKey(), // it hands tasks on, so it signs
  capabilities: [
    {
      name: 'plan',
      input: { city: 'string' },
      async handler({ city }, context) {
        const [found] = (await client.search('translate phrases to French')).agents
        const phrases = Object.keys(PHRASES)
        const reply = await context.call(uriOf(found.endpoint, 'translate'), { phrases })
        return { city, stops: ['the old town', 'a museum'], phrases: reply.output.phrases }
      },
    },
  ],
  ...ON_THIS_COMPUTER,
})

const uriOf = (url, capability) => `agent://${new URL(url).host}/${capability}`

try {
  for (const agent of [translator, planner]) {
    await agent.listen()
    await agent.register(directory.url, { token: directory.key })
  }

  const call = { httpLoopback: true, delegationChain: keep(person.delegationChain) }
  const { output } = await invokeAgent(uriOf(planner.url, 'plan'), { city: 'Paris' }, call)
  assert.deepEqual(output.phrases, Object.values(PHRASES))
  assert.deepEqual(output.metadata.taskTrace, [{ agent: uriOf(translator.url, 'translate') }])
  console.log(`a day in ${output.city}: ${output.stops.join(', ')}; say "${output.phrases.join('", "')}"`)

  const [delegation] = delegations
  assert.deepEqual(delegation.actors, [person.did, `${planner.url}/plan`])
  console.log(`the translator worked for ${delegation.actors[0].slice(0, 20)}… through ${delegation.actors[1]}`)

  const translate = (more) =>
    invokeAgent(uriOf(translator.url, 'translate'), { phrases: ['Thank you'] }, { httpLoopback: true, ...more })
  await assert.rejects(translate({}), { code: 'permission_denied' })
  const stranger = makePerson()
  await assert.rejects(translate({ delegationChain: stranger.delegationChain }), { code: 'permission_denied' })
  // The planner was given this one; nobody can use it again, or with another agent.
  await assert.rejects(translate({ delegationChain: chains[0] }), isRefusedFor('wrong_audience'))
  await assert.rejects(
    invokeAgent(uriOf(planner.url, 'plan'), { city: 'Paris' }, { httpLoopback: true, delegationChain: chains[0] }),
    isRefusedFor('replayed'),
  )
  assert.equal(delegations.length, 1)
  console.log('without a chain, with a stranger’s and with a stolen one it refused')
} finally {
  await Promise.all([planner.close(), translator.close()])
  await directory.close()
}

/** Signs as `sign` does, and keeps what was signed. */
function keep(sign) {
  return async (hop) => {
    const chain = await sign(hop)
    chains.push(chain)
    return chain
  }
}

function isRefusedFor(reason) {
  return (error) => error.code === 'permission_denied' && error.details.reason === reason
}
