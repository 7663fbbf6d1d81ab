import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NO_POSTGRES, testDatabase } from '../postgres.js'
import { openBrowser } from '../support/browser.js'
import { startDirectory, type TestDirectory } from '../support/directory.js'
import { expectError } from '../support/errors.js'

const database = await testDatabase()

describe.skipIf(!database)(database ? 'sessions of replicas' : `sessions of replicas, ${NO_POSTGRES}`, () => {
  let replicas: readonly [TestDirectory, TestDirectory]
  let withoutSecret: TestDirectory
  beforeAll(async () => {
    const settings = { database: database?.url ?? '' }
    const secret = 'the secret of all replicas'
    replicas = [await startDirectory({ ...settings, secret }), await startDirectory({ ...settings, secret })]
    withoutSecret = await startDirectory(settings)
  })
  afterAll(async () => {
    await Promise.all([...replicas, withoutSecret].map((replica) => replica.close()))
    await database?.drop()
  })

  it('are begun at one, used at all, and ended at all by signing out', async () => {
    const [one, other] = replicas
    const browser = openBrowser(one)
    await browser.signIn(one.adminKey)
    expect((await other.get('/admin/keys', browser.reading())).status).toBe(200)
    expect((await one.delete('/session', browser.writing())).status).toBe(204)
    await expect.poll(async () => (await other.get('/admin/keys', browser.reading())).status).toBe(401)
  })

  it('need a secret that is not in the database, where whoever reads it could sign in as anybody', async () => {
    expect((await withoutSecret.get('/session')).json.sign_in.key).toBe(false)
    const answer = await openBrowser(withoutSecret).signIn(withoutSecret.adminKey)
    expectError(answer, { status: 409, code: 'conflict', says: /SWITCHBOARD_SECRET/ })
  })
})
