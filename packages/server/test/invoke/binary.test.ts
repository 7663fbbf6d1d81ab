import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { expectError } from '../support/errors.js'
import { setUp } from './setup.js'

const setup = setUp({ gateway: { maxInputBytes: 100_000 } })
const { register, call } = setup

const BYTES = randomBytes(1024)
const IMAGE = { type: 'string', contentEncoding: 'base64', contentMediaType: 'image/png' }
const WITH_IMAGE = { type: 'object', properties: { image: IMAGE, text: { type: 'string' } }, required: ['image'] }

/** Sends a form as a browser does. */
async function sendForm(parts: Record<string, string | Blob | Blob[]>, path = '/agents/x/invoke') {
  const form = new FormData()
  for (const [name, part] of Object.entries(parts))
    for (const one of [part].flat()) typeof one === 'string' ? form.append(name, one) : form.append(name, one, 'a.png')
  const request = new Request('http://a.example', { method: 'POST', body: form })
  const raw = new Uint8Array(await request.arrayBuffer())
  return call(null, { raw, headers: { 'content-type': request.headers.get('content-type') ?? '' }, path })
}

describe('binary input', () => {
  it('AIDIP-5.1-11 AIDIP00-6-07 as a URL reaches the agent unchanged', async () => {
    await register({ inputs: { image_url: 'string' } })
    const body = { image_url: 'https://images.example.com/a%20b.png?x=1#y' }
    for (const path of ['/agents/x/invoke', '/v0/agents/x/invoke']) await call(body, { path })
    expect(setup.agent.calls.map(({ json }) => json)).toEqual([body, body])
  })

  it('AIDIP-5.1-12 AIDIP00-6-07 as base64 reaches the agent if it is valid', async () => {
    await register({ inputs: WITH_IMAGE })
    expect((await call({ image: BYTES.toString('base64') })).status).toBe(200)
    expect(Buffer.from(setup.agent.calls[0]?.json.image, 'base64')).toEqual(BYTES)
    for (const image of ['not base64!', 'abc', 'ab=c', 'ab==\n'])
      expectError(await call({ image }), { status: 400, member: '/image', says: /base64/ }, image)
    expect(setup.agent.calls).toHaveLength(1)
  })

  it('AIDIP-5.1-12 is checked in lists and nested members too', async () => {
    const inner = { type: 'object', properties: { pages: { type: 'array', items: IMAGE } } }
    await register({ inputs: { type: 'object', properties: { scan: inner } } })
    expectError(await call({ scan: { pages: ['AAAA', '?'] } }), { status: 400, member: '/scan/pages/1' })
    expect((await call({ scan: { pages: ['AAAA'] } })).status).toBe(200)
  })
})

describe('a form', () => {
  it('AIDIP-5.1-13 AIDIP00-6-07 contains JSON and files, which the agent gets as base64', async () => {
    await register({ inputs: WITH_IMAGE })
    for (const path of ['/agents/x/invoke', '/v0/agents/x/invoke']) {
      const answer = await sendForm({ input: '{"text":"look"}', image: new Blob([BYTES]) }, path)
      expect(answer.status, answer.text).toBe(200)
      const received = setup.agent.calls.pop()
      expect(received?.headers['content-type']).toBe('application/json')
      expect(received?.json).toEqual({ text: 'look', image: BYTES.toString('base64') })
    }
  })

  it('AIDIP-5.1-13 may contain texts as members, several files for a list, and files of a simple map', async () => {
    const inputs = { type: 'object', properties: { pages: { type: 'array', items: IMAGE } } }
    await register({ inputs })
    await sendForm({ text: 'look', pages: [new Blob(['a']), new Blob(['b'])] })
    expect(setup.agent.calls[0]?.json).toEqual({ text: 'look', pages: ['YQ==', 'Yg=='] })
    await register({ id: 'y', inputs: { scan: 'file', note: 'string?' } })
    await sendForm({ scan: new Blob(['a']) }, '/agents/y/invoke')
    expect(setup.agent.calls[1]?.json).toEqual({ scan: 'YQ==' })
  })

  it('C-66 is forwarded unchanged to an agent that accepts forms', async () => {
    await register({ inputFormats: ['multipart/form-data'], inputs: WITH_IMAGE })
    const answer = await sendForm({ input: '{"text":"look"}', image: new Blob([BYTES]) })
    expect(answer.status, answer.text).toBe(200)
    const [received] = setup.agent.calls
    expect(received?.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/)
    expect(received?.body.includes(BYTES)).toBe(true)
  })

  it('is checked against the schema like any input', async () => {
    await register({ inputs: WITH_IMAGE })
    expectError(await sendForm({ input: '{"text":"look"}' }), { status: 400, member: '/image' })
    expectError(await sendForm({ image: new Blob(['a']), other: new Blob(['b']) }), { status: 400, member: '/other' })
    expectError(await sendForm({ input: '{"text":', image: new Blob(['a']) }), { status: 400, says: /JSON/ })
    const broken = { raw: 'no form', headers: { 'content-type': 'multipart/form-data; boundary=x' } }
    expectError(await call(null, broken), { status: 400, says: /multipart/ })
    expect(setup.agent.calls).toEqual([])
  })

  it('has up to 100 parts, counted before they are read', async () => {
    await register({ inputs: {} })
    const texts = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, `text ${i}`]))
    expect((await sendForm(texts(100))).status).toBe(200)
    expect(Object.keys(setup.agent.calls.pop()?.json)).toHaveLength(100)
    expectError(await sendForm(texts(101)), { status: 413, says: /more than 100 parts.*"input"/ })
    const unread = { raw: '--"x\r\n'.repeat(200), headers: { 'content-type': 'multipart/form-data; boundary="\\"x"' } }
    expectError(await call(null, unread), { status: 413, says: /100 parts/ })
    const unnamed = { raw: '--'.repeat(200), headers: { 'content-type': 'multipart/form-data' } }
    expectError(await call(null, unnamed), { status: 400, says: /multipart/ })
    expect(setup.agent.calls).toEqual([])
  })
})

describe('other media types of input', () => {
  const png = { raw: new Uint8Array(BYTES), headers: { 'content-type': 'image/png' } }

  it('AIDIP00-6-01 are rejected unless the operation lists them', async () => {
    await register()
    for (const type of ['text/plain', 'image/png', 'application/x-www-form-urlencoded', 'text/json'])
      expectError(await call(null, { ...png, headers: { 'content-type': type } }), { status: 415 }, type)
    expect(setup.agent.calls).toEqual([])
    const operation = {
      name: 'see',
      inputs: {},
      outputs: {},
      contentTypes: { inputFormat: ['application/json', 'image/png'] },
    }
    await register({ id: 'y', operations: [operation] })
    await register({ id: 'z', inputs: { contentMediaType: 'image/*' } })
    for (const path of ['/agents/y/invoke', '/agents/y/see', '/agents/z/invoke', '/v0/agents/z/invoke']) {
      await call(null, { ...png, path })
      const received = setup.agent.calls.pop()
      expect([received?.headers['content-type'], received?.body]).toEqual(['image/png', BYTES])
    }
  })

  it('C-66 are rejected with a list of those that are supported', async () => {
    await register()
    const answer = await call(null, png)
    expect(answer.json.supported).toEqual(['application/json', 'multipart/form-data'])
  })
})

describe('binary output', () => {
  it('is passed on unchanged, but cannot run as a page of the directory', async () => {
    await register({ outputFormats: ['image/png'] })
    setup.agent.reply = (_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end(BYTES)
    const response = await fetch(`${setup.directory.url}/agents/x/invoke`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${setup.directory.adminKey}`,
        accept: 'image/png',
        'content-type': 'application/json',
      },
      body: '{"text":"draw"}',
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('image/png')
    expect(response.headers.get('content-security-policy')).toContain('sandbox')
    expect(Buffer.from(await response.arrayBuffer())).toEqual(BYTES)
  })
})

describe('a large input', () => {
  it('AIDIP-5.1-14 is rejected with the advice to send a URL', async () => {
    await register()
    const answer = await call({ text: 'x'.repeat(100_000) })
    expectError(answer, { status: 413, code: 'payload_too_large', says: /by URL/ })
    expect(setup.agent.calls).toEqual([])
    expect((await call({ text: 'x'.repeat(90_000) })).status).toBe(200)
  })
})
