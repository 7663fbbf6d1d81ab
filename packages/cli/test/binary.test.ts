import { afterAll, beforeAll, expect, it } from 'vitest'
import { aidip, type Bench, startProcesses, startWeb } from './support/cli.js'

// Most tests run commands in their own process. Here, each kind of command runs once as people run it.
let bench: Bench
beforeAll(async () => {
  bench = await startProcesses()
})
afterAll(() => bench.close())

it('the built command registers, finds, calls and manages agents, with exit codes', async () => {
  const web = await startWeb((_request, response) =>
    response.setHeader('content-type', 'application/json').end('{"said":"hello"}'),
  )
  try {
    const file = bench.file('two.ndjson', [aidip('one'), aidip('two')].map((each) => JSON.stringify(each)).join('\n'))
    const created = await Promise.all([
      bench.cli('register', bench.file('greeter.json', aidip('greeter', { endpoint: web.url }))),
      bench.cli('import', file),
      bench.cli('keys', 'create', 'anna', '--quiet'),
      bench.stranger('register', bench.file('refused.json', aidip('refused'))),
    ])
    expect(created).toMatchObject([
      { code: 0, stdout: 'registered greeter\n', stderr: expect.stringMatching(/^switchboard: warning: [^\n]*\n$/) },
      { code: 0, stdout: 'imported 2 (2 new, 0 updated), 0 failed\n', stderr: '' },
      { code: 0, stdout: expect.stringMatching(/^\S{24,}\n$/), stderr: '' },
      { code: 1, stdout: '', stderr: expect.stringMatching(/^switchboard: [^\n]*--token[^\n]*\n$/) },
    ])
    const read = await Promise.all([
      bench.stranger('search', 'what', 'a', 'greeter', 'does'),
      bench.stranger('get', 'greeter'),
      bench.cli('call', 'greeter', 'name=Anna'),
      bench.cli('subjects', 'show', 'anna'),
      bench.cli('peers', 'list'),
      bench.stranger('get'),
    ])
    expect(read).toMatchObject([
      { code: 0, stdout: expect.stringMatching(/^ID .*\ngreeter +The greeter/), stderr: '' },
      { code: 0, stdout: expect.stringMatching(/^id {2,}greeter\n/), stderr: '' },
      { code: 0, stdout: '{\n  "said": "hello"\n}\n', stderr: '' },
      { code: 0, stdout: '       1  key\n', stderr: '' },
      { code: 0, stdout: 'no peers\n', stderr: '' },
      { code: 2, stdout: '', stderr: 'switchboard: use: switchboard get ID\n' },
    ])
    expect(await bench.cli('remove', 'greeter')).toMatchObject({ code: 0, stdout: 'removed greeter\n', stderr: '' })
  } finally {
    await web.close()
  }
})
