import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type AddressClass,
  classifyAddress,
  formatIpAddress,
  isInRange,
  isLoopbackHost,
  parseAddressRange,
  parseIpAddress,
} from './addresses.js'

it.each(['localhost', 'LOCALHOST', 'a.localhost', '127.0.0.1', '127.255.0.9', '::1', '[::1]'])(
  '%s is a loopback host',
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
])('%s is not a loopback host', (host) => {
  expect(isLoopbackHost(host)).toBe(false)
})

const classOf = (text: string): AddressClass | undefined => {
  const address = parseIpAddress(text)
  return address && classifyAddress(address)
}

describe('classifyAddress', () => {
  it.each<[AddressClass, string[]]>([
    ['public', ['1.1.1.1', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0', '126.255.255.255']],
    ['public', ['172.15.255.255', '172.32.0.0', '192.167.255.255', '198.17.255.255', '198.20.0.0', '223.255.255.255']],
    ['public', ['2606:4700:4700::1111', '2a00::1', '2001:200::1', '3ffe::1']],
    ['private', ['10.0.0.0', '10.255.255.255', '172.16.0.0', '172.31.255.255', '192.168.0.1', 'fc00::1', 'fdff::1']],
    ['private', ['fec0::1', '64:ff9b:1::a00:1']],
    ['loopback', ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1', '[::1]']],
    ['link-local', ['169.254.0.1', '169.254.169.253', 'fe80::1', 'febf::1', 'fe80::1%eth0']],
    ['shared', ['100.64.0.0', '100.127.255.255']],
    ['metadata', ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', 'fd00:ec2::254']],
    ['multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1']],
    ['reserved', ['0.0.0.0', '0.1.2.3', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '255.255.255.255']],
    [
      'reserved',
      ['::', '2001:db8::1', '2001::1', '2002:7f00:1::', '3fff::1', '100::1', '4000::', '::7f00:1', '5f00::1'],
    ],
  ])('%s: %j', (kind, addresses) => {
    for (const address of addresses) expect(classOf(address), address).toBe(kind)
  })

  it.each(['::ffff:', '::ffff:0:', '64:ff9b::'])('recognizes IPv4 in %s', (prefix) => {
    expect(classOf(`${prefix}127.0.0.1`)).toBe('loopback')
    expect(classOf(`${prefix}7f00:1`)).toBe('loopback')
    expect(classOf(`${prefix}10.1.2.3`)).toBe('private')
    expect(classOf(`${prefix}a9fe:a9fe`)).toBe('metadata')
    expect(classOf(`${prefix}1.1.1.1`)).toBe('public')
  })

  it.each(['127.1', '127.0.1', '2130706433', '0x7f000001', '0x7F.0.0.1', '017700000001', '0177.0.0.01', '127.0.0.1.'])(
    'reads %s as 127.0.0.1',
    (text) => {
      expect(classOf(text)).toBe('loopback')
      expect(new URL(`http://${text}/`).hostname).toBe('127.0.0.1')
    },
  )

  it.each(['', 'example.com', '1.2.3.4.5', '256.1.1.1', '1.2.3.256', '4294967296', '08', '1..2', '1.2.3.4x', '0x1g'])(
    'rejects %j as an IPv4 address',
    (text) => {
      expect(parseIpAddress(text)).toBeUndefined()
    },
  )

  it.each([':', ':::', '1::2::3', '12345::', 'g::', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4::5:6:7:8'])(
    'rejects %j as an IPv6 address',
    (text) => {
      expect(parseIpAddress(text)).toBeUndefined()
    },
  )

  it('reads every host that the URL standard treats as an IPv4 address as the same address', () => {
    const part = fc.oneof(
      fc.nat(300).map(String),
      fc.nat().map((n) => `0x${n.toString(16)}`),
      fc.nat(0o777).map((n) => `0${n.toString(8)}`),
    )
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const text = parts.join('.')
        const url = URL.canParse(`http://${text}/`) ? new URL(`http://${text}/`).hostname : undefined
        const address = parseIpAddress(text)
        expect(address && formatIpAddress(address)).toBe(url)
      }),
    )
  })

  it('reads IPv6 addresses like the URL standard, and formats them so that they parse to the same value', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const address = parseIpAddress(text)
        if (!address) throw new Error(`${text} cannot be parsed`)
        const written = formatIpAddress(address)
        if (written.includes(':')) expect(new URL(`http://[${written}]`).host).toBe(new URL(`http://[${text}]`).host)
        expect(parseIpAddress(written)?.value).toBe(
          written.includes(':') ? address.value : address.value & 0xffff_ffffn,
        )
      }),
    )
  })
})

describe('ranges', () => {
  const isIn = (address: string, range: string): boolean => {
    const [a, r] = [parseIpAddress(address), parseAddressRange(range)]
    if (!a || !r) throw new Error('cannot be parsed')
    return isInRange(a, r)
  }

  it('contain the addresses with the same first bits', () => {
    expect(isIn('10.1.2.3', '10.0.0.0/8')).toBe(true)
    expect(isIn('11.0.0.0', '10.0.0.0/8')).toBe(false)
    expect(isIn('fd12::1', 'fd00::/8')).toBe(true)
    expect(isIn('10.0.0.1', '10.0.0.1')).toBe(true)
    expect(isIn('10.0.0.2', '10.0.0.1/32')).toBe(false)
    expect(isIn('255.1.1.1', '0.0.0.0/0')).toBe(true)
    expect(isIn('::1', '0.0.0.0/0')).toBe(false)
  })

  it.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/-1', '::/129', 'example.com', 'a/8', '10.0.0.0/8/8'])(
    'cannot be parsed from %s',
    (text) => {
      expect(parseAddressRange(text)).toBeUndefined()
    },
  )
})
