import { expect, it } from 'vitest'
import { directoryRecords, directoryTxt } from './dns-sd.js'

const directory = { name: 'Switchboard', host: 'directory.example', port: 443, tls: true, version: '1.0.0' }

it('AD-3.2-01 writes the records of a directory: service type, instance, address and description', () => {
  expect(directoryRecords(directory, 'example.com')).toEqual([
    { name: '_services._dns-sd._udp.example.com.', type: 'PTR', data: '_ad._tcp.example.com.' },
    { name: '_ad._tcp.example.com.', type: 'PTR', data: 'Switchboard._ad._tcp.example.com.' },
    { name: 'Switchboard._ad._tcp.example.com.', type: 'SRV', data: '0 0 443 directory.example.' },
    {
      name: 'Switchboard._ad._tcp.example.com.',
      type: 'TXT',
      data: '"txtvers=1" "path=/.well-known/ad" "tls=1" "version=1.0.0"',
    },
  ])
})

it('escapes what zone files treat specially', () => {
  const [, pointer, , text] = directoryRecords({ ...directory, name: 'Büro 1. "x"', version: 'a"\\ü' }, 'example.com')
  expect(pointer?.data).toBe('B\\195\\188ro\\0321\\046\\032\\034x\\034._ad._tcp.example.com.')
  expect(text?.data).toContain('"version=a\\034\\092\\195\\188"')
})

it('rejects names that DNS cannot have', () => {
  for (const domain of ['', 'a..b', '-a.example', `${'a'.repeat(64)}.example`, 'a b', 'x;y'])
    expect(() => directoryRecords(directory, domain), domain).toThrow(TypeError)
  expect(() => directoryRecords({ ...directory, host: '192.0.2.1' }, 'example.com')).toThrow('is an address')
  expect(() => directoryRecords({ ...directory, name: 'ü'.repeat(32) }, 'example.com')).toThrow('63 bytes')
  expect(() => directoryRecords({ ...directory, url: `https://${'a'.repeat(250)}` }, 'example.com')).toThrow('255')
})

it('states the version of the record first', () => {
  expect(Object.keys(directoryTxt({ tls: false, url: 'https://d.example' }))).toEqual(['txtvers', 'path', 'tls', 'url'])
})
