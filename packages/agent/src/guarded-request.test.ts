import { describe, expect, it } from 'vitest'
import { checkUrl } from './guarded-request.js'

const isAllowed = (url: string, allowPrivate = false): boolean => {
  try {
    checkUrl(url, { allowPrivate })
    return true
  } catch {
    return false
  }
}

describe('an address from another party', () => {
  it.each(['https://hooks.example/x', 'https://93.184.216.34/', 'https://[2606:2800:220:1::1]/'])(
    'may be %s',
    (url) => {
      expect(isAllowed(url)).toBe(true)
    },
  )

  it.each([
    'http://hooks.example/x',
    'ftp://hooks.example/',
    'https://127.1/',
    'https://2130706433/',
    'https://10.0.0.1/',
    'https://[::ffff:127.0.0.1]/',
    'https://[fd00::1]/',
    'https://169.254.169.254/latest/meta-data',
    'https://a:b@hooks.example/',
    '/x',
  ])('may not be %s', (url) => {
    expect(isAllowed(url)).toBe(false)
  })

  it('may be this machine in development, but never the metadata service', () => {
    expect(isAllowed('http://127.0.0.1:8080/', true)).toBe(true)
    expect(isAllowed('https://10.0.0.1/', true)).toBe(true)
    expect(isAllowed('http://10.0.0.1/', true)).toBe(false)
    expect(isAllowed('https://169.254.169.254/', true)).toBe(false)
  })
})
