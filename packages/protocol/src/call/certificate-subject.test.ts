import { describe, expect, it } from 'vitest'
import { CERTIFICATE_SUBJECTS } from '../../test-vectors/call/certificate-subjects.js'
import { certificateSubject } from './certificate-subject.js'

describe('certificateSubject', () => {
  it.each(CERTIFICATE_SUBJECTS)('AD-8.2-04 finds the subject: $name', ({ certificate, subject }) => {
    expect(certificateSubject(certificate)).toBe(subject)
  })
})
