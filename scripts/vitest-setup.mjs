// CI judges a change by the same random documents each time; everywhere else each run tries new ones. A seed that
// failed is in the failure's message.
import fc from 'fast-check'

if (process.env.CI) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_115 })
