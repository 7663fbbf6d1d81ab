import { createSocket } from 'node:dgram'
import { afterEach, describe, expect, it } from 'vitest'
import { createResolveName, createResolveText } from '../../src/gateway/connection/resolve-name.js'

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

const A = 1
const AAAA = 28
const TXT = 16

/** A DNS server with the given names; it does not respond to queries for names that begin with `slow`. */
async function startNameServer(records: Record<string, { type: number; data: number[] }[]>): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    const labels: string[] = []
    let at = 12
    for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
    const name = labels.join('.')
    if (name.startsWith('slow')) return
    const type = question.readUInt16BE(at + 1)
    const answers = (records[name] ?? []).filter((record) => record.type === type)
    const head = Buffer.from(question.subarray(0, at + 5))
    head.writeUInt16BE(records[name] ? 0x8180 : 0x8183, 2)
    head.writeUInt16BE(answers.length, 6)
    head.writeUInt32BE(0, 8)
    const body = answers.map(({ data }) => Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data]))
    socket.send(Buffer.concat([head, ...body]), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  open.push(() => socket.close())
  return `127.0.0.1:${socket.address().port}`
}

describe('resolving names', () => {
  it('returns all IPv4 and IPv6 addresses', async () => {
    const server = await startNameServer({
      'agent.example': [
        { type: A, data: [1, 2, 3, 4] },
        { type: A, data: [10, 0, 0, 1] },
        { type: AAAA, data: [0x20, 1, ...Array<number>(13).fill(0), 1] },
      ],
      'four.example': [{ type: A, data: [1, 1, 1, 1] }],
    })
    const resolve = createResolveName([server])
    const isTrusted = false
    expect([...(await resolve('agent.example', { isTrusted }))].sort()).toEqual(['1.2.3.4', '10.0.0.1', '2001::1'])
    expect(await resolve('four.example', { isTrusted })).toEqual(['1.1.1.1'])
  })

  it('returns no addresses for unknown names and for a DNS server that does not respond', async () => {
    const resolve = createResolveName([await startNameServer({})])
    expect(await resolve('none.example', { isTrusted: false })).toEqual([])
    expect(await resolve('slow.example', { isTrusted: false })).toEqual([])
  })

  it('returns TXT records, the parts of each as one text', async () => {
    const parts = ['to', 'ken'].flatMap((part) => [part.length, ...Buffer.from(part)])
    const server = await startNameServer({ '_c.agent.example': [{ type: TXT, data: parts }] })
    const resolveText = createResolveText([server])
    expect(await resolveText('_c.agent.example')).toEqual(['token'])
    expect(await resolveText('none.example')).toEqual([])
  })

  it('uses the hosts file of the system only for trusted names', async () => {
    const resolve = createResolveName([await startNameServer({})])
    expect(await resolve('localhost', { isTrusted: true })).toContain('127.0.0.1')
    expect(await resolve('localhost', { isTrusted: false })).toEqual([])
  })
})
