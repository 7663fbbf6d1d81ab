// Runs an example: node examples/run.mjs quickstart
// Node 20 does not run TypeScript, so its types are removed while it is loaded.
import { readdirSync } from 'node:fs'
import { register } from 'node:module'

const here = new URL('.', import.meta.url)
const stories = readdirSync(here, { withFileTypes: true }).flatMap((item) => (item.isDirectory() ? [item.name] : []))
const [story] = process.argv.slice(2)
if (stories.includes(story)) {
  register('./typescript-loader.mjs', here)
  await import(`./${story}/main.ts`)
} else {
  console.error(`name an example: ${stories.join(', ')}`)
  process.exitCode = 2
}
