import { describe, expect, it } from 'vitest'
import { checkAddress } from './address-policy.js'

const codeOf = (url: string, policy = {}): string => {
  try {
    return checkAddress(url, policy).href
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  }
}

describe('an address', () => {
  it.each(['https://example.com/a', 'wss://example.com/', 'https://8.8.8.8/', 'https://[2606:4700::1]/'])(
    '%s is allowed',
    (url) => {
      expect(codeOf(url)).toBe(url)
    },
  )

  it.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://LOCALHOST/',
    'https://a.localhost/',
    'https://[::]/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://172.16.0.1/',
    'https://100.64.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'wss://192.168.1.1/',
  ])('%s is not public', (url) => {
    expect(codeOf(url)).toBe('blocked_address')
  })

  it('without TLS is rejected, except on this machine in development', () => {
    expect(codeOf('http://example.com/', { httpLoopback: true, allowPrivate: true })).toBe('insecure')
    expect(codeOf('http://127.0.0.1:8040/', { allowPrivate: true })).toBe('insecure')
    expect(codeOf('http://127.0.0.1:8040/', { httpLoopback: true })).toBe('http://127.0.0.1:8040/')
    expect(codeOf('ws://[::1]:8040/', { httpLoopback: true })).toBe('ws://[::1]:8040/')
  })

  it('in a private network can be allowed, but never that of a metadata service', () => {
    expect(codeOf('https://10.0.0.1/', { allowPrivate: true })).toBe('https://10.0.0.1/')
    expect(codeOf('https://localhost/', { allowPrivate: true })).toBe('https://localhost/')
    expect(codeOf('https://169.254.169.254/', { allowPrivate: true })).toBe('blocked_address')
  })

  it.each(['', 'example.com', 'ftp://example.com/', 'data:,x', 'javascript:0', 'https://user@example.com/'])(
    '%j is invalid',
    (url) => {
      expect(codeOf(url)).toBe('bad_document')
    },
  )
})
