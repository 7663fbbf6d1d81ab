import type { CertificateNames } from '../../src/call/certificate-subject.js'

export interface CertificateVector {
  readonly name: string
  readonly certificate: CertificateNames
  /** Undefined: the certificate names no usable subject. */
  readonly subject: string | undefined
}

/** Names of client certificates, as Node reports them, and the subject they stand for. */
export const CERTIFICATE_SUBJECTS: readonly CertificateVector[] = [
  {
    name: 'a URI takes precedence over DNS names and the CN, in any position',
    certificate: { subjectaltname: 'DNS:d1.example, URI:wimse://td.example/a1, DNS:d2.example', subject: { CN: 'n1' } },
    subject: 'wimse://td.example/a1',
  },
  {
    name: 'the first of several URIs',
    certificate: { subjectaltname: 'URI:urn:a, URI:urn:b', subject: { CN: 'n' } },
    subject: 'urn:a',
  },
  {
    name: 'a SPIFFE id',
    certificate: { subjectaltname: 'DNS:d.example, URI:spiffe://td.example/billing', subject: { CN: 'n' } },
    subject: 'spiffe://td.example/billing',
  },
  {
    name: 'none with a SPIFFE id and another URI',
    certificate: { subjectaltname: 'URI:urn:a, URI:spiffe://td.example/billing', subject: { CN: 'n' } },
    subject: undefined,
  },
  {
    name: 'none with a malformed SPIFFE id',
    certificate: { subjectaltname: 'URI:spiffe://TD.example/billing, DNS:d.example', subject: { CN: 'n' } },
    subject: undefined,
  },
  {
    name: 'none with a SPIFFE id that is only a trust domain',
    certificate: { subjectaltname: 'URI:spiffe://td.example', subject: { CN: 'n' } },
    subject: undefined,
  },
  {
    name: 'a DNS name takes precedence over the CN; other kinds are ignored',
    certificate: {
      subjectaltname: 'IP Address:10.0.0.1, DNS:d3.example, email:x@y.example, Registered ID:1.2.3',
      subject: { CN: 'n2' },
    },
    subject: 'd3.example',
  },
  { name: 'the CN without alternative names', certificate: { subject: { CN: 'n3' } }, subject: 'n3' },
  { name: 'the first of several CNs', certificate: { subject: { CN: ['n4', 'n5'] } }, subject: 'n4' },
  {
    name: 'the CN if no alternative name is a URI or DNS name',
    certificate: { subjectaltname: 'IP Address:10.0.0.1, othername:<unsupported>', subject: { CN: 'n6' } },
    subject: 'n6',
  },
  {
    name: 'a quoted URI with a comma',
    certificate: { subjectaltname: 'URI:"https://a.example/x,y"', subject: { CN: 'n7' } },
    subject: 'https://a.example/x,y',
  },
  {
    name: 'a quoted URI with a comma and a space',
    certificate: { subjectaltname: 'URI:"https://a.example/x, y", DNS:d.example', subject: { CN: 'n8' } },
    subject: 'https://a.example/x, y',
  },
  {
    name: 'a quoted URI with quotation marks and backslashes',
    certificate: { subjectaltname: 'URI:"urn:x:\\"a\\\\b\\""', subject: { CN: 'n9' } },
    subject: 'urn:x:"a\\b"',
  },
  {
    name: 'a quoted DNS name that looks like two entries is one',
    certificate: { subjectaltname: 'DNS:"d.example, URI:spiffe://admin"', subject: { CN: 'n10' } },
    subject: 'd.example, URI:spiffe://admin',
  },
  {
    name: 'a quoted name of another kind that looks like a URI entry is not one',
    certificate: { subjectaltname: 'email:"x@y.example, URI:spiffe://admin", DNS:d.example', subject: { CN: 'n11' } },
    subject: 'd.example',
  },
  {
    name: 'alternative names with an open quotation mark',
    certificate: { subjectaltname: 'URI:"https://a.example/x', subject: { CN: 'n12' } },
    subject: undefined,
  },
  {
    name: 'alternative names with text after a closing quotation mark',
    certificate: { subjectaltname: 'URI:"https://a.example/x"y', subject: { CN: 'n13' } },
    subject: undefined,
  },
  {
    name: 'a name with a control character',
    certificate: { subjectaltname: 'URI:"https://a.example/\\u0000x"', subject: { CN: 'n14' } },
    subject: undefined,
  },
  { name: 'an empty CN', certificate: { subject: { CN: '' } }, subject: undefined },
  { name: 'no name at all', certificate: {}, subject: undefined },
]
