import { describe, expect, it } from 'vitest'
import { judgeAudit } from './audit.mjs'

const report = (severity) =>
  JSON.stringify({ auditReportVersion: 2, vulnerabilities: { left: { name: 'left', severity, range: '<2' } } })

describe('the audit of dependencies', () => {
  it('fails if a vulnerability is of high or critical severity, and names the package', () => {
    for (const severity of ['high', 'critical']) {
      expect(judgeAudit(report(severity))).toMatchObject({
        code: 1,
        lines: [`${severity}: left <2`, expect.any(String)],
      })
    }
  })

  it('passes if there is none', () => {
    expect(judgeAudit(report('moderate')).code).toBe(0)
    expect(judgeAudit('{"vulnerabilities":{}}').code).toBe(0)
  })

  it('is skipped with a reason if the registry serves no advisories', () => {
    const refused = 'npm warn audit 405\n{"message":"405 Method Not Allowed","statusCode":405,"error":{}}'
    expect(judgeAudit(refused)).toEqual({ code: 0, lines: [expect.stringMatching(/^skipped: .*405/)] })
    expect(judgeAudit('')).toEqual({ code: 0, lines: [expect.stringMatching(/^skipped/)] })
  })
})
