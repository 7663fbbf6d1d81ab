import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { describeSettings } from './describe-settings.js'
import { readConfig } from './read-config.js'

const folder = mkdtempSync(join(tmpdir(), 'switchboard-test-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const config = file('config.json', '{"search":{"embedder":{"url":"https://models.example/v1","model":"m"}}}')

describe('secrets in files', () => {
  it('are read without the white space around them', () => {
    const settings = readConfig(
      { config },
      {
        SWITCHBOARD_ADMIN_KEY_FILE: file('admin', 'the-key-of-the-administrator\n'),
        SWITCHBOARD_SECRET_FILE: file('secret', '  the-secret-of-all-replicas \n'),
        SWITCHBOARD_DATABASE_URL_FILE: file('database', 'postgres://u:p@db/x\n'),
        SWITCHBOARD_EMBEDDER_KEY_FILE: file('embedder', 'k\n'),
        SWITCHBOARD_METRICS_TOKEN_FILE: file('metrics', 'the-token-of-prometheus\n'),
      },
    )
    expect(settings).toMatchObject({
      adminKey: 'the-key-of-the-administrator',
      secret: 'the-secret-of-all-replicas',
      database: 'postgres://u:p@db/x',
      metricsToken: 'the-token-of-prometheus',
      search: { embedder: { key: 'k' } },
    })
  })

  it('must not be set in the variable, too', () => {
    const env = { SWITCHBOARD_SECRET: 'the-secret-of-all-replicas', SWITCHBOARD_SECRET_FILE: file('s', 'x') }
    expect(() => readConfig({}, env)).toThrow('SWITCHBOARD_SECRET and SWITCHBOARD_SECRET_FILE are both set')
    expect(readConfig({}, { ...env, SWITCHBOARD_SECRET_FILE: '' }).secret).toBe(env.SWITCHBOARD_SECRET)
  })

  it('must exist, and must not be empty', () => {
    const missing = { SWITCHBOARD_ADMIN_KEY_FILE: join(folder, 'missing') }
    expect(() => readConfig({}, missing)).toThrow(/^SWITCHBOARD_ADMIN_KEY_FILE .*missing cannot be read/)
    const empty = { SWITCHBOARD_ADMIN_KEY_FILE: file('empty', '\n') }
    expect(() => readConfig({}, empty)).toThrow(/SWITCHBOARD_ADMIN_KEY_FILE .* is empty/)
    const short = { SWITCHBOARD_ADMIN_KEY_FILE: file('short', 'short') }
    expect(() => readConfig({}, short)).toThrow(/at least 16 characters/)
  })
})

describe('the source of a setting', () => {
  it('is the flag, else the variable, else the config file, else the default', () => {
    const path = file('sources.json', '{"host":"127.0.0.2","port":1,"data":"x","gateway":{"timeoutMs":5}}')
    const env = { SWITCHBOARD_CONFIG: path, SWITCHBOARD_PORT: '2', SWITCHBOARD_DATA: 'y' }
    const config = readConfig({ data: 'z' }, { ...env, SWITCHBOARD_ADMIN_KEY_FILE: file('k', 'the-key-of-the-admin') })
    const shown = new Map(describeSettings(config).map((setting) => [setting.key, setting]))
    expect(shown.get('data')).toMatchObject({ value: 'z', source: 'flag', set_by: '--data' })
    expect(shown.get('port')).toMatchObject({ value: 2, source: 'environment', set_by: 'SWITCHBOARD_PORT' })
    expect(shown.get('host')).toMatchObject({ value: '127.0.0.2', source: 'file', set_by: path })
    expect(shown.get('gateway.timeoutMs')).toMatchObject({ value: 5, default: 30_000, source: 'file', set_by: path })
    expect(shown.get('adminKey')).toMatchObject({ value: '(set)', set_by: 'SWITCHBOARD_ADMIN_KEY_FILE' })
    expect(shown.get('gateway.maxCalls')).toMatchObject({ value: 2048, source: 'default' })
    expect(JSON.stringify([...shown])).not.toContain('the-key-of-the-admin')
  })
})
