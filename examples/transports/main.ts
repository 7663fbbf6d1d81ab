// One agent, called over HTTPS, over a WebSocket, through a Matrix room, through the runtime of this computer, and in
// the same process. Only the URI differs.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgent } from '@switchboard/agent'
import { createCaller, createLocalRegistry } from '@switchboard/client'
import { createLocalClient, createLocalRuntime } from '@switchboard/local'
import { createAuthority, createFetch } from '../certificates.ts'
import { startMatrixRoom } from './matrix-room.ts'

const shout = ({ text }: { readonly text: string }) => ({ text: text.toUpperCase() })

const agent = createAgent({
  name: 'shouter',
  version: '1.0.0',
  description: 'Writes a text in capital letters.',
  capabilities: [{ name: 'shout', input: { text: 'string' }, output: { text: 'string' }, handler: shout }],
})
const folder = await mkdtemp(join(tmpdir(), 'switchboard-example-'))
const authority = await createAuthority()
const trusting = createFetch(authority)

// HTTPS and WebSocket share a port; the runtime of this computer reaches the agent through a socket.
const socket = join(folder, 'shouter.sock')
const { url = '' } = await agent.listen({ host: 'localhost', tls: await authority.issue('localhost'), socket })
const runtime = await createLocalRuntime({ socket: join(folder, 'run', 'local.sock'), state: join(folder, 'state') })
await createLocalClient(runtime.socket).register('shouter', { socket })

const room = await startMatrixRoom((operation, { text }) => {
  assert.equal(operation, 'shout')
  return shout({ text: String(text) })
})

const localRegistry = createLocalRegistry()
localRegistry.register('function', (input) => shout(Object(input)))

const caller = createCaller({
  fetch: trusting.fetch,
  socketTls: { ca: authority.cert },
  allowPrivate: true, // the agent is on this computer
  localRegistry,
  localSocket: runtime.socket,
  matrix: { accessToken: 'of-the-caller', homeserver: room.homeserver, agentUser: '@agent:chat.example' },
})

try {
  const { host } = new URL(url)
  for (const uri of [
    `agent+https://${host}/shout`,
    `agent+wss://${host}/shout`,
    'agent+matrix://chat.example/room/shout',
    'agent+local://shouter/shout',
    'agent+local://function/shout',
  ]) {
    const { output } = await caller.invoke(uri, { text: 'hello' })
    assert.deepEqual(output, { text: 'HELLO' })
    console.log(`${uri} → ${JSON.stringify(output)}`)
  }

  // Without a transport in the URI, the agent's descriptor decides.
  const { output } = await caller.invoke(`agent://${host}/shout`, { text: 'hello' })
  assert.deepEqual(output, { text: 'HELLO' })

  // A transport that the caller does not have is an error; HTTPS is not tried instead.
  await assert.rejects(caller.invoke(`agent+pigeon://${host}/shout`, { text: 'hello' }), {
    code: 'unsupported_transport',
  })
  console.log('agent+pigeon is not supported')
} finally {
  await caller.close()
  await runtime.close()
  await agent.close()
  await Promise.all([room.close(), trusting.close(), authority.close(), rm(folder, { recursive: true })])
}
