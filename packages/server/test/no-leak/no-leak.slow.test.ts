import { afterAll, beforeAll, it } from 'vitest'
import { createTwins, type Twins } from './twins.js'

let twins: Twins
beforeAll(async () => {
  twins = await createTwins()
})
afterAll(() => twins.close())

it('what a caller reads is the same as if hidden agents had never been there, for 1,000 worlds and every read route', async () => {
  await twins.check({ worlds: 1000 })
}, 1_800_000)
