import { expect, it } from 'vitest'
import { isLoopbackHost } from './addresses.js'

it.each(['localhost', 'LOCALHOST', 'a.localhost', '127.0.0.1', '127.255.0.9', '::1', '[::1]'])(
  '%s is this machine',
  (host) => {
    expect(isLoopbackHost(host)).toBe(true)
  },
)

it.each([
  'example.com',
  'localhost.example.com',
  '128.0.0.1',
  '10.0.0.1',
  '127.0.0.1.example.com',
  '::2',
  '0.0.0.0',
  '',
])('%s is not taken for this machine', (host) => {
  expect(isLoopbackHost(host)).toBe(false)
})
