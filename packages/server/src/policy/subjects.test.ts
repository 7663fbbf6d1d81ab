import { describe, expect, it } from 'vitest'
import { createSubjects } from './subjects.js'

const A = 'https://a.example'
const B = 'https://b.example'
const subjects = createSubjects({ plainIssuer: A, trustDomains: new Map([['td.example', B]]) })

describe('createSubjects', () => {
  it('qualifies a subject with its issuer', () => {
    expect(subjects.ofToken(B, 'alice')).toBe('https://b.example#alice')
  })

  it('leaves the subjects of the plain issuer, and of certificates, as they are', () => {
    expect(subjects.ofToken(A, 'alice')).toBe('alice')
    expect(subjects.ofToken(A, 'wimse://td.example/a')).toBe('wimse://td.example/a')
    expect(subjects.ofCertificate('robot.example')).toBe('robot.example')
  })

  it.each(['admin', 'anonymous', 'switchboard'])('never gives a caller the name "%s" of the directory', (name) => {
    expect(subjects.ofToken(A, name)).toBe(`https://a.example#${name}`)
    expect(subjects.ofToken(B, name)).toBe(`https://b.example#${name}`)
    expect(subjects.ofCertificate(name)).toBe(`certificate#${name}`)
  })

  it('lets neither the plain issuer nor a certificate take a qualified subject of someone else', () => {
    expect(subjects.ofToken(A, 'https://b.example#alice')).toBe('https://a.example#https://b.example#alice')
    expect(subjects.ofToken(A, 'certificate#admin')).toBe('https://a.example#certificate#admin')
    expect(subjects.ofCertificate('https://b.example#alice')).toBe('certificate#https://b.example#alice')
  })

  it('takes SPIFFE ids from certificates, and from tokens of the issuer that speaks for their trust domain', () => {
    const id = 'spiffe://td.example/billing'
    expect(subjects.ofCertificate(id)).toBe(id)
    expect(subjects.ofToken(B, id)).toBe(id)
    expect(subjects.ofToken(A, id)).toBe(`https://a.example#${id}`)
    const other = 'spiffe://other.example/billing'
    expect(subjects.ofToken(A, other)).toBe(other)
    expect(subjects.ofToken(B, other)).toBe(`https://b.example#${other}`)
  })

  it('never gives two holders the same subject', () => {
    const names = ['alice', 'admin', 'spiffe://td.example/a', 'https://b.example#alice', 'https://a.example#alice', '#']
    const given = names.flatMap((name) => [subjects.ofToken(A, name), subjects.ofToken(B, name)])
    expect(new Set(given).size).toBe(given.length)
  })
})
