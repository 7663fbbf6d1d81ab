import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { invokeAgent, streamAgent } from '@switchboard/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { closeAll, count, echo, makeAgent } from './support/agents.js'

let folder: string
let socket: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'switchboard-agent-'))
  socket = join(folder, 'a.sock')
})
afterEach(async () => {
  await closeAll()
  rmSync(folder, { recursive: true })
})

const uri = (path: string): string => `agent+unix://${encodeURIComponent(socket)}/${path}`

describe('an agent on a Unix socket', () => {
  it('can only be opened by its user, and is called by its path', async () => {
    const agent = makeAgent({ capabilities: [echo, count] })
    expect(await agent.listen({ socket })).toEqual({ socket })
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    const options = { socketFolders: [folder] }
    expect((await invokeAgent(uri('echo'), { text: 'hi' }, options)).output).toEqual({ text: 'hi' })
    const parts: unknown[] = []
    for await (const { data } of streamAgent(uri('count'), { to: 2 }, options)) parts.push(data)
    expect(parts).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('AURI-8.1-05 AURI-10-07 reads the session from the body, and documents how the socket is protected', async () => {
    const agent = makeAgent({
      capabilities: [
        { name: 'where', handler: (_: object, { session }: { session?: { id: string } }) => session?.id ?? '' },
      ],
    })
    await agent.listen({ socket })
    const reply = await invokeAgent(uri('where'), { sessionId: 's1' }, { socketFolders: [folder] })
    expect(reply.output).toBe('s1')
    expect(await agent.descriptor()).toMatchObject({
      transport: { unix: socket },
      security: { unix: ['file-permissions', 'none'] },
    })
  })

  it('can also listen on a port, and supports deferred calls', async () => {
    const agent = makeAgent({ capabilities: [echo, { ...echo, name: 'later', deferred: true }] })
    const { url = '' } = await agent.listen({ socket, port: 0 })
    expect((await fetch(`${url}/health`)).status).toBe(200)
    const later = await invokeAgent(uri('later'), { text: 'hi' }, { socketFolders: [folder] })
    expect(later.output).toEqual({ text: 'hi' })
    expect((await invokeAgent(uri('echo'), { text: 'hi' }, { socketFolders: [folder] })).output).toEqual({ text: 'hi' })
  })

  it('replaces a stale socket, but not one in use', async () => {
    const left = createServer().listen(socket)
    await new Promise((resolve) => left.once('listening', resolve))
    await expect(makeAgent().listen({ socket })).rejects.toThrow(/EADDRINUSE/)
    // A hard link preserves the socket file, as if its process had been killed.
    const { linkSync } = await import('node:fs')
    linkSync(socket, join(folder, 'kept'))
    await new Promise((resolve) => left.close(resolve))
    linkSync(join(folder, 'kept'), socket)
    await makeAgent().listen({ socket })
    expect((await invokeAgent(uri('echo'), { text: 'hi' }, { socketFolders: [folder] })).output).toEqual({ text: 'hi' })
  })
})
