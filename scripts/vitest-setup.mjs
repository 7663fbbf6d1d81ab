import fc from 'fast-check'
import { beforeEach } from 'vitest'

// CI uses the same random inputs in every run; elsewhere each run tries new ones. The message of a failure names its seed.
if (process.env.CI) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_115 })

// Reports show a failing `it.fails` as passed. The mark tells coverage:spec not to count it.
beforeEach(({ task }) => {
  if (task.fails) task.meta.fails = true
})
