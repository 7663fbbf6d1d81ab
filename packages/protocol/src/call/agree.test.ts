import { describe, expect, it } from 'vitest'
import { AGREE_ON_VERSION_VECTORS, AGREE_VECTORS } from '../../test-vectors/call/agree.js'
import { agree } from './agree.js'
import { agreeOnVersion } from './agree-on-version.js'

describe('agree', () => {
  it.each(AGREE_VECTORS)('C-63 $title', ({ header, query, body, value, refusal }) => {
    const run = () => agree('sessionId', [header ?? null, query, body])
    if (refusal === undefined) expect(run()).toBe(value)
    else expect(run).toThrow(`sessionId ${refusal}`)
  })
})

describe('agreeOnVersion', () => {
  it.each(AGREE_ON_VERSION_VECTORS)('C-63 $header and $query give $version', ({ header, query, version }) => {
    const run = () => agreeOnVersion([header, query])
    if (version === undefined) expect(run).toThrow(/version has two different values/)
    else expect(run()).toBe(version)
  })
})
