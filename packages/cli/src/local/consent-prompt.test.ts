import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createConsentPrompt } from './consent-prompt.js'

const request = (origin: string, more = {}) => ({
  origin,
  agent: 'notes',
  capability: 'add',
  description: 'Keeps notes.',
  ...more,
})

function start(isInteractive = true) {
  const [input, output] = [new PassThrough(), new PassThrough({ encoding: 'utf8' })]
  const prompt = createConsentPrompt({ input, output, isInteractive })
  const shown = (): string => String(output.read() ?? '')
  /** Types a line once the question is shown; anything typed earlier is ignored. */
  const type = async (line: string): Promise<void> => {
    await expect.poll(shown).toMatch(/\[y\/N\] $/)
    input.write(`${line}\n`)
  }
  return { prompt, shown, type, input }
}
const never = new AbortController().signal

describe('the consent prompt', () => {
  it.each([
    ['y', true],
    [' YES ', true],
    ['n', false],
    ['yellow', false],
    ['yes please', false],
  ])('reads %j as %s', async (line, decision) => {
    const { prompt, type } = start()
    const answer = prompt.ask(request('https://a.example'), never)
    await type(`\n${line}`)
    expect(await answer).toBe(decision)
    prompt.close()
  })

  it('shows origin, capability and agent, without control characters', async () => {
    const { input, prompt, shown } = start()
    const asked = request('https://a.example', { capability: 'add\u001b[2J', description: 'Good\nAllowed: yes' })
    const answer = prompt.ask(asked, never)
    await expect
      .poll(shown)
      .toBe(
        'https://a.example wants to call add [2J of notes (Good Allowed: yes)\nAllow it until you revoke it? [y/N] ',
      )
    input.write('n\n')
    await answer
    prompt.close()
  })

  it('asks one at a time, and an answer belongs to the request that is shown', async () => {
    const { prompt, type } = start()
    const first = prompt.ask(request('https://a.example'), never)
    const second = prompt.ask(request('https://b.example'), never)
    await type('y')
    expect(await first).toBe(true)
    await type('n')
    expect(await second).toBe(false)
    prompt.close()
  })

  it('ends when the request is answered elsewhere, and the next line answers the next request', async () => {
    const { prompt, shown, type } = start()
    const ended = new AbortController()
    const first = prompt.ask(request('https://a.example'), ended.signal)
    await expect.poll(shown).toMatch(/https:\/\/a\.example/)
    ended.abort()
    expect(await first).toBe(false)
    expect(shown()).toMatch(/answered elsewhere/)
    const second = prompt.ask(request('https://b.example'), never)
    await type('yes')
    expect(await second).toBe(true)
    prompt.close()
  })

  it('prints the command if there is no terminal, quoted for a shell', async () => {
    const { prompt, shown } = start(false)
    void prompt.ask(request('https://a.example', { capability: "it's" }), never)
    expect(shown()).toBe(
      "https://a.example wants to call it's of notes; to allow it: switchboard local allow https://a.example 'notes' 'it'\\''s'\n",
    )
  })
})
