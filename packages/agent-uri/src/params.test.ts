import { describe, expect, it } from 'vitest'
import { buildAgentUri, parseAgentUri, sortParams } from './index.js'

const params = (query: string) => parseAgentUri(`agent://h/p?${query}`).params

describe('parameters', () => {
  it('AURI-4.1-03 reads URL-encoded key=value pairs', () => {
    expect(params('text=a%26b&k%3D=1=2')).toEqual({ text: 'a&b', 'k=': '1=2' })
    expect(params('q=Hello+World%21%2B')).toEqual({ q: 'Hello World!+' })
    expect(params('tag=a&tag=b&tag=&flag')).toEqual({ tag: ['a', 'b', ''], flag: '' })
    expect(params('city=S%C3%A3o%20Paulo')).toEqual({ city: 'São Paulo' })
  })

  it('AURI-4.1-03 writes URL-encoded key=value pairs, with a space as %20 and a plus as %2B', () => {
    const built = buildAgentUri({ host: 'h', path: '/p', params: { text: 'a&b', 'k=': '1 + 1', tag: ['a', 'b'] } })
    expect(built).toBe('agent://h/p?text=a%26b&k%3D=1%20%2B%201&tag=a&tag=b')
    expect(parseAgentUri(built).params).toEqual({ text: 'a&b', 'k=': '1 + 1', tag: ['a', 'b'] })
  })

  it('are null without a query and empty with an empty one', () => {
    expect(parseAgentUri('agent://h/p').params).toBeNull()
    expect(params('')).toEqual({})
    expect(params('&&')).toEqual({})
  })

  it('accept the key "__proto__" without changing the prototype', () => {
    const read = params('__proto__=a&__proto__=b&constructor=c')
    expect(Object.entries(read ?? {})).toEqual([
      ['__proto__', ['a', 'b']],
      ['constructor', 'c'],
    ])
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
  })

  it.each([
    ['%ff', '\ufffd'],
    ['a%C3', 'a\ufffd'],
    ['%C3%A9%C3', 'é\ufffd'],
    ['%c0%80', '\ufffd\ufffd'],
    ['%E0%80%80', '\ufffd\ufffd\ufffd'],
    ['%ED%A0%80', '\ufffd\ufffd\ufffd'],
    ['%F0%9F%98%80', '😀'],
    ['%F4%90%80%80', '\ufffd\ufffd\ufffd\ufffd'],
    ['%EF%BF%BD', '\ufffd'],
  ])('decode %s to %j, whether or not it is UTF-8', (encoded, text) => {
    expect(params(`q=${encoded}`)).toEqual({ q: text })
  })

  it('write numbers and booleans, leave out undefined values and replace lone surrogates', () => {
    const written = { n: 1.5, yes: true, none: undefined, empty: [], blank: '', half: '\ud83d!' }
    expect(buildAgentUri({ host: 'h', params: written })).toBe('agent://h?n=1.5&yes=true&blank=&half=%EF%BF%BD!')
    expect(buildAgentUri({ host: 'h', params: {} })).toBe('agent://h')
  })
})

describe('control parameters', () => {
  const given = { city: 'Rio', version: '2', sessionId: 's', taskId: 't' }

  it('are separated from input', () => {
    expect(sortParams(given)).toEqual({
      control: { version: '2', sessionId: 's', taskId: 't' },
      input: { city: 'Rio' },
    })
  })

  it('are input if the capability has a property of that name', () => {
    expect(sortParams(given, ['city', 'version'])).toEqual({
      control: { sessionId: 's', taskId: 't' },
      input: { city: 'Rio', version: '2' },
    })
  })
})
