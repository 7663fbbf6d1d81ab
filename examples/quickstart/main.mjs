// An agent in 15 lines, registered in a directory, found there by what it does, and called through it.
import assert from 'node:assert/strict'
import { createAgent } from '@switchboard/agent'
import { createClient, invokeAgent } from '@switchboard/client'
import { startDirectory } from '../start-directory.mjs'

const directory = await startDirectory()

const agent = createAgent({
  name: 'greeter',
  version: '1.0.0',
  description: 'Greets people by their name.',
  capabilities: [
    {
      name: 'greet',
      input: { name: 'string' },
      output: { text: 'string' },
      handler: ({ name }) => ({ text: `Hello, ${name}!` }),
    },
  ],
})
await agent.listen()
await agent.register(directory.url, { token: directory.key })

try {
  const client = createClient({ baseUrl: directory.url, token: directory.key })
  const { agents } = await client.search('greet somebody by name')
  assert.deepEqual(
    agents.map(({ id }) => id),
    ['greeter'],
  )
  console.log(`found: ${agents[0].name}, "${agents[0].description}"`)

  const reply = await client.invoke(agents[0].id, { name: 'Ann' })
  assert.deepEqual(reply.output, { text: 'Hello, Ann!' })
  console.log(`through the directory: ${reply.output.text}`)

  // The same agent by its address; plain HTTP is for this computer only.
  const uri = `agent://${new URL(agent.url).host}/greet?name=Ben`
  const { output } = await invokeAgent(uri, undefined, { httpLoopback: true })
  assert.deepEqual(output, { text: 'Hello, Ben!' })
  console.log(`${uri}: ${output.text}`)

  await assert.rejects(client.invoke('greeter', { nome: 'Ann' }), { code: 'invalid_input' })

  await agent.close()
  await assert.rejects(client.get('greeter'), { code: 'not_found' })
  console.log('closed: the directory lists it no more')
} finally {
  await agent.close()
  await directory.close()
}
