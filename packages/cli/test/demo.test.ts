import { startDemo } from '@switchboard/demo'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bench, startBench } from './support/cli.js'
import { runQuietly } from './support/run-quietly.js'

let bench: Bench
beforeAll(async () => {
  bench = await startBench({ startDemo })
})
afterAll(() => bench.close())

const listed = async (): Promise<number> => JSON.parse(await (await fetch(`${bench.url}/agents?top=50`)).text()).length

describe('switchboard demo', () => {
  it('runs the agents until it is interrupted, and prints commands that work when pasted', async () => {
    const demo = bench.start('demo')
    await demo.printed('Ctrl-C removes them')
    await demo.printed('call demo-mehrwertsteuer')
    expect(await listed()).toBe(12)
    const commands = demo.stdout().match(/^ {2}switchboard (search|call) .*$/gm) ?? []
    expect(commands).toHaveLength(13)
    const translate = commands.find((line) => line.includes('demo-translator')) ?? ''
    expect(translate.trim()).toBe("switchboard call demo-translator text='good morning, my friend' to=es")
    const called = await bench.cli('call', 'demo-phone-book', 'who=support', '--agent-key', keyIn(commands))
    expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining('Ben Okafor') })
    demo.child.kill('SIGINT')
    expect((await demo.ended).code).toBe(0)
    expect(await listed()).toBe(0)
  })

  const keyIn = (commands: readonly string[]): string => /--agent-key (\S+)/.exec(commands.join('\n'))?.[1] ?? ''

  it('--detach lets the directory run them, and --remove ends that; neither needs a key where the data is', async () => {
    // The key in the environment is not the administrator's.
    const env = { SWITCHBOARD_URL: bench.url, SWITCHBOARD_TOKEN: 'sb_of-somebody' }
    const own = (...args: string[]) => runQuietly(['demo', ...args, '--data', bench.data], env)
    const { code, stdout, stderr } = await own('--detach', '--json')
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout).agents).toHaveLength(12)
    expect(await listed()).toBe(12)
    expect(await own('--remove')).toMatchObject({ code: 0, stdout: 'the agents of the demo are removed\n' })
    expect(await listed()).toBe(0)
    // Its own keys are gone too.
    expect((await bench.cli('keys', 'list')).stdout).not.toContain('switchboard-demo')
  })

  it('--remove removes what a killed demo has left', async () => {
    const demo = bench.start('demo')
    await demo.printed('Ctrl-C removes them')
    demo.child.kill('SIGKILL')
    await demo.ended
    expect(await listed()).toBe(12)
    expect(JSON.parse((await bench.cli('demo', '--remove', '--json')).stdout).removed).toHaveLength(12)
    expect(await listed()).toBe(0)
  })

  it('says what is wrong in one line', async () => {
    const env = { SWITCHBOARD_URL: bench.url }
    expect(await runQuietly(['demo', '--detach'], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--token'),
    })
    expect(await runQuietly(['demo', '--detach', '--remove'])).toMatchObject({ code: 2 })
    expect(await runQuietly(['demo', '--url', 'http://127.0.0.1:1'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('check that it is running'),
    })
  })
})
