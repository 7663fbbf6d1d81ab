// An agent in 15 lines, registered in a directory, found there by what it does, and called through it.
import assert from 'node:assert/strict'
import { createAgent } from '@switchboard/agent'
import { createClient, invokeAgent } from '@switchboard/client'
import { startDirectory } from '../start-directory.ts'

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
const { url = '' } = await agent.listen()
await agent.register(directory.url, { token: directory.token })

/** The output of the agent, as its schema describes it. */
interface Greeting {
  readonly text: string
}

try {
  const client = createClient({ baseUrl: directory.url, token: directory.token })
  const [found, ...others] = (await client.search('greet somebody by name')).agents
  assert.ok(found)
  assert.deepEqual([found.id, others], ['greeter', []])
  console.log(`found: ${found.name}, "${found.description}"`)

  const reply = await client.invoke<Greeting>(found.id, { name: 'Ann' })
  assert.deepEqual(reply.output, { text: 'Hello, Ann!' })
  console.log(`through the directory: ${reply.output.text}`)

  // The same agent by its address. Plain HTTP works on this computer only.
  const uri = `agent://${new URL(url).host}/greet?name=Ben`
  const { output } = await invokeAgent<Greeting>(uri, undefined, { httpLoopback: true })
  assert.deepEqual(output, { text: 'Hello, Ben!' })
  console.log(`${uri}: ${output.text}`)

  await assert.rejects(client.invoke('greeter', { nome: 'Ann' }), { code: 'invalid_input' })

  await agent.close()
  await assert.rejects(client.get('greeter'), { code: 'not_found' })
  console.log('closed: the directory no longer lists the agent')
} finally {
  await agent.close()
  await directory.close()
}
