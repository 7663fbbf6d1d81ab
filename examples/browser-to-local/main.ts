// A web page calls an agent on this computer, in a real browser: refused at first, allowed after the person has agreed,
// and refused again after they revoke that. Needs Chromium; set $CHROMIUM to its path.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAgent } from '@switchboard/agent'
import { type ConsentRequest, createLocalClient, createLocalRuntime } from '@switchboard/local'
import { chromium } from 'playwright-core'
import { servePage } from './serve-page.ts'

const folder = await mkdtemp(join(tmpdir(), 'switchboard-example-'))
const notes: string[] = []
const questions: ConsentRequest[] = []

const agent = createAgent({
  name: 'notes',
  version: '1.0.0',
  description: 'Keeps the notes of one person.',
  capabilities: [
    {
      name: 'add',
      input: { text: 'string' },
      output: { count: 'integer' },
      handler: ({ text }) => ({ count: notes.push(text) }),
    },
  ],
})
// What `switchboard local` runs. There the person is asked in the terminal; here they always agree.
const runtime = await createLocalRuntime({
  socket: join(folder, 'run', 'local.sock'),
  state: join(folder, 'state'),
  bridgePort: 0,
  ask: async (question) => questions.push(question) > 0,
})
const local = createLocalClient(runtime.socket)
const page = await servePage()
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' })

try {
  // No port is opened: programs and pages reach it through the runtime.
  const socket = join(folder, 'notes.sock')
  await agent.listen({ socket })
  await local.register('notes', { socket })

  const tab = await browser.newPage()
  await tab.goto(`${page.url}/?bridge=${runtime.bridgeUrl}`)
  const shows = (text: string) => tab.locator('#state').getByText(text, { exact: true }).waitFor()
  const add = async (text: string) => {
    await tab.getByLabel('Note').fill(text)
    await tab.getByRole('button', { name: 'Add' }).click()
  }

  await add('buy milk')
  await shows('refused: permission_denied')
  assert.deepEqual([notes, questions], [[], []])
  console.log(`${page.url} wants to add a note: refused`)

  await tab.getByRole('button', { name: 'Ask for permission' }).click()
  await shows('allowed')
  const [question] = questions
  assert.ok(question)
  const { origin, agent: name, capability, description } = question
  assert.deepEqual([origin, name, capability], [page.url, 'notes', 'add'])
  console.log(`the person was asked whether ${origin} may ${capability} with ${name} ("${description}"): yes`)

  await add('buy milk')
  await shows('added')
  assert.deepEqual(notes, ['buy milk'])
  assert.equal(await tab.locator('#count').textContent(), '1')
  console.log(`added: ${notes.join(', ')}`)

  const { revoked } = await local.revoke({ origin })
  assert.equal(revoked.length, 1)
  await add('buy bread')
  await shows('refused: permission_denied')
  assert.deepEqual(notes, ['buy milk'])
  console.log('the person revoked the consent: refused')
} finally {
  await browser.close()
  await page.close()
  await agent.close()
  await runtime.close()
  await rm(folder, { recursive: true, force: true })
}
