// From an agent:// URI to the place where the agent is called: the parts of the URI, the descriptor that the agent
// publishes, and how that is cached.
import assert from 'node:assert/strict'
import { createAgent } from '@switchboard/agent'
import { AgentUriError, normalizeAgentUri, parseAgentUri } from '@switchboard/agent-uri'
import { createResolver } from '@switchboard/client'

// A URI has a host or a DID, a path that names the capability, and parameters. Nothing is requested to read it.
const byDid = parseAgentUri('agent://did:web:example.com:researcher/get-article?doi=10.1000/182')
assert.deepEqual([byDid.did, byDid.path], ['did:web:example.com:researcher', '/get-article'])
assert.deepEqual(byDid.params, { doi: '10.1000/182' })
assert.equal(normalizeAgentUri('AGENT+WSS://Example.com/%7euser'), 'agent+wss://example.com/~user')
assert.throws(() => parseAgentUri('agent://example.com:65536/'), { code: 'invalid_port' })
assert.throws(() => parseAgentUri('https://example.com/'), AgentUriError)
console.log(`${byDid.path} of ${byDid.did}`)

const agent = createAgent({
  name: 'researcher',
  version: '2.1.0',
  description: 'Finds articles.',
  descriptorMaxAge: 60, // seconds; the default
  capabilities: [
    { name: 'get-article', input: { doi: 'string' }, handler: ({ doi }) => ({ title: `The article ${doi}` }) },
  ],
})
const { url = '' } = await agent.listen()

/** The requests that were sent, with the status of their responses. */
const sent: string[] = []
const recordingFetch: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  sent.push(`${response.status} ${new URL(String(input)).pathname}`)
  return response
}
let now = Date.now()
const resolver = createResolver({ httpLoopback: true, fetch: recordingFetch, now: () => now })

try {
  const uri = `agent://${new URL(url).host}/get-article?doi=10.1000/182`
  const found = await resolver.resolveAgent(uri)
  assert.deepEqual([found.agent, found.version, found.capability], ['researcher', '2.1.0', 'get-article'])
  assert.deepEqual([found.endpoint, found.params, found.fallback], [`${url}/`, { doi: '10.1000/182' }, false])
  assert.equal(sent.at(-1), '200 /agent.json')
  console.log(`${uri}\n  is ${found.agent} ${found.version}, called at ${found.endpoint}`)

  // All responses are fresh for as long as the agent says: resolving again sends no request.
  sent.length = 0
  assert.deepEqual(await resolver.resolveAgent(uri), found)
  assert.deepEqual(sent, [])
  console.log('resolved again from the cache, without a request')

  // Afterwards the resolver asks whether it has changed; a 304 has no body.
  now += 61_000
  assert.deepEqual(await resolver.resolveAgent(uri), found)
  assert.equal(sent.at(-1), '304 /agent.json')
  console.log(`a minute later: ${sent.at(-1)}`)

  await agent.update({ description: 'Finds articles and books.' })
  now += 61_000
  const changed = await resolver.resolveAgent(uri)
  assert.equal(changed.descriptor?.description, 'Finds articles and books.')
  assert.equal(sent.at(-1), '200 /agent.json')
  console.log(`after a change: ${sent.at(-1)}`)
} finally {
  await agent.close()
}
