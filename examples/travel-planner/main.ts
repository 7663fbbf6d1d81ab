// A travel planner finds a translator in the directory and delegates a part of its task. The translator works for known
// people only: the delegation chain proves who gave the task, and which agents passed it on.
import assert from 'node:assert/strict'
import { createAgent } from '@switchboard/agent'
import { ClientError, createClient, type InvokeOptions, invokeAgent } from '@switchboard/client'
import type { Delegation } from '@switchboard/protocol'
import { startDirectory } from '../start-directory.ts'
import { makeKey, makePerson, type SignDelegation } from './person.ts'

/** Everything happens on one computer, over plain HTTP; agents on the Internet need neither of these. */
const ON_THIS_COMPUTER = { allowPrivate: true, outgoing: { httpLoopback: true } }

const TRANSLATIONS = new Map([
  ['Where is the station?', 'Où est la gare ?'],
  ['Thank you', 'Merci'],
])
const PHRASE_LIST = {
  type: 'object',
  properties: { phrases: { type: 'array', items: { type: 'string' } } },
  required: ['phrases'],
} as const

interface PhraseList {
  readonly phrases: string[]
}

interface Plan extends PhraseList {
  readonly city: string
  readonly stops: string[]
  /** Added by the kit: the agents involved in the task. */
  readonly metadata: { readonly taskTrace: { readonly agent: string }[] }
}

const directory = await startDirectory()
const client = createClient({ baseUrl: directory.url, token: directory.token })
const person = makePerson()
/** The delegations that the translator received. */
const delegations: (Delegation | undefined)[] = []

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
        return { phrases: phrases.map((phrase) => TRANSLATIONS.get(phrase) ?? phrase) }
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
  description: 'Plans a day in a city, with the phrases you need there.',
  key: makeKey(), // it delegates tasks, so it signs
  capabilities: [
    {
      name: 'plan',
      input: { city: 'string' },
      async handler({ city }, context) {
        const [found] = (await client.search('translate phrases to French')).agents
        assert.ok(found?.endpoint)
        const phrases = [...TRANSLATIONS.keys()]
        const { output } = await context.call<PhraseList>(uriOf(found.endpoint, 'translate'), { phrases })
        return { city, stops: ['the old town', 'a museum'], phrases: output.phrases }
      },
    },
  ],
  ...ON_THIS_COMPUTER,
})

const uriOf = (url: string, capability: string): string => `agent://${new URL(url).host}/${capability}`

try {
  for (const agent of [translator, planner]) {
    await agent.listen()
    await agent.register(directory.url, { token: directory.token })
  }
  const planUri = uriOf(planner.url ?? '', 'plan')
  const translateUri = uriOf(translator.url ?? '', 'translate')

  const { sign, chains } = recordChains(person.delegationChain)
  const { output } = await invokeAgent<Plan>(planUri, { city: 'Paris' }, { httpLoopback: true, delegationChain: sign })
  assert.deepEqual(output.phrases, [...TRANSLATIONS.values()])
  assert.deepEqual(output.metadata.taskTrace, [{ agent: translateUri }])
  console.log(`a day in ${output.city}: ${output.stops.join(', ')}; say "${output.phrases.join('", "')}"`)

  const [delegation] = delegations
  assert.ok(delegation)
  const [principal, actor] = delegation.actors
  assert.deepEqual([principal, actor], [person.did, `${planner.url}/plan`])
  console.log(`the translator worked for ${person.did.slice(0, 20)}… through ${actor}`)

  const translate = (options: InvokeOptions) =>
    invokeAgent(translateUri, { phrases: ['Thank you'] }, { httpLoopback: true, ...options })
  await assert.rejects(translate({}), { code: 'permission_denied' })
  await assert.rejects(translate({ delegationChain: makePerson().delegationChain }), { code: 'permission_denied' })
  // This chain was given to the planner. Nobody can use it with another agent, or a second time.
  const [stolen = ''] = chains
  await assert.rejects(translate({ delegationChain: stolen }), isRejectedFor('wrong_audience'))
  await assert.rejects(
    invokeAgent(planUri, { city: 'Paris' }, { httpLoopback: true, delegationChain: stolen }),
    isRejectedFor('replayed'),
  )
  assert.equal(delegations.length, 1)
  console.log('without a chain, with a stranger’s and with a stolen one it refused')
} finally {
  await Promise.all([planner.close(), translator.close()])
  await directory.close()
}

/** Signs as `original` does, and keeps the chains. */
function recordChains(original: SignDelegation): { readonly sign: SignDelegation; readonly chains: string[] } {
  const chains: string[] = []
  const sign: SignDelegation = async (hop) => {
    const chain = await original(hop)
    chains.push(chain)
    return chain
  }
  return { sign, chains }
}

function isRejectedFor(reason: string) {
  return (error: unknown): boolean =>
    error instanceof ClientError && error.code === 'permission_denied' && Object(error.details).reason === reason
}
