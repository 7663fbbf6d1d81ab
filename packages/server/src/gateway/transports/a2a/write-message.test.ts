import { describe, expect, it } from 'vitest'
import { contentOf, contentOfBody } from './write-message.js'

const text = (value: string) => ({ kind: 'text', text: value })
const data = (value: unknown) => ({ kind: 'data', data: value })

describe('contentOf', () => {
  it.each([
    ['a string', 'hello', text('hello')],
    ['one member for text', { query: 'hello' }, text('hello')],
    ['one member with another name', { city: 'Paris' }, text('Paris')],
    ['several members', { text: 'hello', to: 'zh' }, text('{"text":"hello","to":"zh"}')],
    ['another value', [1, 2], text('[1,2]')],
  ])('sends %s as text to an agent that accepts only text', (_, input, expected) => {
    expect(contentOf(input, ['text/plain'])).toEqual(expected)
    expect(contentOf(input, ['text/plain', 'image/png'])).toEqual(expected)
  })

  it.each(['application/json', 'application/geo+json', 'application/*'])(
    'sends everything as data to an agent that accepts only %s',
    (type) => {
      for (const input of ['hello', { text: 'hello' }, { a: 1 }]) expect(contentOf(input, [type])).toEqual(data(input))
    },
  )

  it.each([[[]], [['text/plain', 'application/json']], [['*/*']], [['image/png']]])(
    'sends text as text and anything else as data to an agent that accepts %j',
    (types) => {
      expect(contentOf('hello', types)).toEqual(text('hello'))
      expect(contentOf({ text: 'hello' }, types)).toEqual(text('hello'))
      expect(contentOf({ city: 'Paris' }, types)).toEqual(data({ city: 'Paris' }))
      expect(contentOf({ a: 1 }, types)).toEqual(data({ a: 1 }))
    },
  )
})

describe('contentOfBody', () => {
  it('sends plain text as text if the agent accepts it, and other bodies as files', () => {
    const bytes = Buffer.from('hällo')
    expect(contentOfBody(bytes, 'text/plain; charset=utf-8', ['text/plain'])).toEqual(text('hällo'))
    const file = { kind: 'file', bytes: bytes.toString('base64'), mimeType: 'text/plain' }
    expect(contentOfBody(bytes, 'text/plain', [])).toEqual(file)
    expect(contentOfBody(bytes, 'text/csv', ['text/plain'])).toEqual({ ...file, mimeType: 'text/csv' })
    expect(contentOfBody(Buffer.from([0xff]), 'text/plain', ['text/plain'])).toMatchObject({ kind: 'file' })
  })
})
