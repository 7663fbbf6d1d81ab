// Runs an example: node examples/run.mjs quickstart
// Node 20 does not run TypeScript, so its types are removed while it is loaded.
import { readdirSync } from 'node:fs'
import { register } from 'node:module'

const here = new URL('.', import.meta.url)
const examples = readdirSync(here, { withFileTypes: true }).flatMap((item) => (item.isDirectory() ? [item.name] : []))
const [example] = process.argv.slice(2)
if (examples.includes(example)) {
  register('./typescript-loader.mjs', here)
  await import(`./${example}/main.ts`)
} else {
  console.error(`name an example: ${examples.join(', ')}`)
  process.exitCode = 2
}
