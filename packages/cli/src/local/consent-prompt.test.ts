import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createConsentPrompt } from './consent-prompt.js'

const question = (origin: string, more = {}) => ({
  origin,
  agent: 'notes',
  capability: 'add',
  description: 'Keeps notes.',
  ...more,
})

function start(isAsking = true) {
  const [input, output] = [new PassThrough(), new PassThrough({ encoding: 'utf8' })]
  const prompt = createConsentPrompt({ input, output, isAsking })
  const shown = (): string => String(output.read() ?? '')
  /** Types a line once the question is there: what is typed before is no answer. */
  const type = async (line: string): Promise<void> => {
    await expect.poll(shown).toMatch(/\[y\/N\] $/)
    input.write(`${line}\n`)
  }
  return { prompt, shown, type, input }
}
const never = new AbortController().signal

describe('the question in the terminal', () => {
  it.each([
    ['y', true],
    [' YES ', true],
    ['n', false],
    ['yellow', false],
    ['yes please', false],
  ])('takes %j for %s', async (line, decision) => {
    const { prompt, type } = start()
    const answer = prompt.ask(question('https://a.example'), never)
    await type(`\n${line}`)
    expect(await answer).toBe(decision)
    prompt.close()
  })

  it('says who wants what, without what could steer the terminal', async () => {
    const { input, prompt, shown } = start()
    const asked = question('https://a.example', { capability: 'add\u001b[2J', description: 'Good\nAllowed: yes' })
    const answer = prompt.ask(asked, never)
    await expect
      .poll(shown)
      .toBe(
        'https://a.example wants to call add [2J of notes (Good Allowed: yes)\nAllow it, until you revoke it? [y/N] ',
      )
    input.write('n\n')
    await answer
    prompt.close()
  })

  it('asks one after the other, and an answer is for the one that is shown', async () => {
    const { prompt, type } = start()
    const first = prompt.ask(question('https://a.example'), never)
    const second = prompt.ask(question('https://b.example'), never)
    await type('y')
    expect(await first).toBe(true)
    await type('n')
    expect(await second).toBe(false)
    prompt.close()
  })

  it('is over when it was answered elsewhere: the next line is not its answer', async () => {
    const { prompt, shown, type } = start()
    const ended = new AbortController()
    const first = prompt.ask(question('https://a.example'), ended.signal)
    await expect.poll(shown).toMatch(/https:\/\/a\.example/)
    ended.abort()
    expect(await first).toBe(false)
    expect(shown()).toMatch(/answered elsewhere/)
    const second = prompt.ask(question('https://b.example'), never)
    await type('yes')
    expect(await second).toBe(true)
    prompt.close()
  })

  it('tells the command where nobody sits, quoted for a shell', async () => {
    const { prompt, shown } = start(false)
    void prompt.ask(question('https://a.example', { capability: "it's" }), never)
    expect(shown()).toBe(
      "https://a.example wants to call it's of notes: switchboard local allow https://a.example 'notes' 'it'\\''s'\n",
    )
  })
})
