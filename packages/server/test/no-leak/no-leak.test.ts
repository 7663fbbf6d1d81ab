import { afterAll, beforeAll, it } from 'vitest'
import { createTwins, type Twins } from './twins.js'

let twins: Twins
beforeAll(async () => {
  twins = await createTwins()
})
afterAll(() => twins.close())

it('AIDIP-9-04 AD-8.4-01 what a caller reads, with all headers, is the same as if hidden agents had never been there', async () => {
  await twins.check({ worlds: 100, readsPerWorld: 20 })
})
