import { describe, expect, it } from 'vitest'
import { readAdminSettings, readCaFile, readColours } from './settings.js'

describe('the settings of the command', () => {
  it.each([
    ['on a terminal', true, {}, true],
    ['not in a file or a pipe', false, {}, false],
    ['not with NO_COLOR', true, { NO_COLOR: '1' }, false],
    ['with an empty NO_COLOR, which means nothing', true, { NO_COLOR: '' }, true],
    ['not on a dumb terminal', true, { TERM: 'dumb' }, false],
    ['in a pipe with FORCE_COLOR', false, { FORCE_COLOR: '1', NO_COLOR: '1' }, true],
    ['not with FORCE_COLOR=0', true, { FORCE_COLOR: '0' }, false],
  ])('have colours %s', (_when, isTerminal, env, colours) => {
    expect(readColours(isTerminal, env)).toBe(colours)
  })

  it('prefer the administrator’s key for administration, and a flag to both', () => {
    const env = { SWITCHBOARD_TOKEN: 'user', SWITCHBOARD_ADMIN_KEY: 'admin', SWITCHBOARD_CA: 'ca.pem' }
    expect(readAdminSettings({}, env).token).toBe('admin')
    expect(readAdminSettings({ token: 'flag' }, env).token).toBe('flag')
    expect(readAdminSettings({}, { SWITCHBOARD_TOKEN: 'user' }).token).toBe('user')
    expect([readCaFile(undefined, env), readCaFile('mine.pem', env)]).toEqual(['ca.pem', 'mine.pem'])
  })
})
