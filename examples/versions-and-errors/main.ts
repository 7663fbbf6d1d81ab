// What goes wrong, and what caller and agent agree on: errors with a code for programs and a sentence for people, the
// format of the response, and the version of the agent.
import assert from 'node:assert/strict'
import { AgentError, capability, createAgent } from '@switchboard/agent'
import { ClientError, createCaller, readProblem } from '@switchboard/client'

/** Version 1 returned the amount as a text, and callers may still request it. */
const quoteV1 = capability({
  name: 'quote',
  input: { nights: 'integer' },
  output: { price: 'string' },
  handler: ({ nights }) => ({ price: `${nights * 80} EUR` }),
})
const agent = createAgent({
  name: 'hotel',
  version: '2.0.0',
  description: 'Quotes the price of a room.',
  olderVersions: { '1.4.0': [quoteV1] },
  capabilities: [
    {
      name: 'quote',
      input: { nights: 'integer' },
      output: { amount: 'number', currency: 'string' },
      outputFormats: ['application/vnd.hotel.quote+json'],
      handler({ nights }) {
        if (nights > 30) throw new AgentError('conflict', 'the hotel is full')
        return { amount: nights * 80, currency: 'EUR' }
      },
    },
  ],
})
const { url = '' } = await agent.listen()
const uri = `agent://${new URL(url).host}/quote`
const caller = createCaller({ httpLoopback: true })

/** The error of a call that must fail. */
async function failureOf(call: Promise<unknown>): Promise<ClientError> {
  const error: unknown = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ClientError, 'the call succeeded')
  console.log(`${error.code}: ${error.message}`)
  return error
}

try {
  // Versions: the latest by default, another one on request, by number or by range.
  const latest = await caller.invoke(uri, { nights: 2 })
  assert.deepEqual([latest.output, latest.version], [{ amount: 160, currency: 'EUR' }, '2.0.0'])
  const older = await caller.invoke(uri, { nights: 2 }, { version: '^1.0.0' })
  assert.deepEqual([older.output, older.version], [{ price: '160 EUR' }, '1.4.0'])
  console.log(`version ${latest.version}: ${JSON.stringify(latest.output)}`)
  console.log(`version ${older.version}: ${JSON.stringify(older.output)}`)
  assert.equal((await failureOf(caller.invoke(uri, { nights: 2 }, { version: '3.0.0' }))).code, 'version_mismatch')
  const contradiction = caller.invoke(`${uri}?version=2.0.0`, { nights: 2 }, { version: '1.4.0' })
  assert.equal((await failureOf(contradiction)).code, 'version_conflict')

  // Formats: the caller lists what it accepts; the agent responds in one of them or says what it has.
  const format = 'application/vnd.hotel.quote+json'
  const quote = await caller.invoke(uri, { nights: 2 }, { accept: [format, 'application/json'] })
  assert.equal(quote.contentType, format)
  const refused = await failureOf(caller.invoke(uri, { nights: 2 }, { accept: 'text/csv' }))
  assert.equal(refused.code, 'not_acceptable')
  assert.deepEqual(readProblem(refused.details)?.supported?.slice(0, 2), ['application/json', format])

  // Errors: the client checks the input before it sends it; the agent checks it again.
  assert.equal((await failureOf(caller.invoke(uri, { nights: 'two' }))).code, 'invalid_input')
  const invalid = await failureOf(caller.invoke(uri, { nights: 'two' }, { checkInput: false }))
  assert.deepEqual([invalid.code, invalid.status], ['invalid_input', 400])
  assert.equal(readProblem(invalid.details)?.issues?.[0]?.member, '/nights')

  const full = await failureOf(caller.invoke(uri, { nights: 31 }))
  assert.deepEqual([full.code, full.status], ['conflict', 409])
  const missing = await failureOf(caller.invoke(uri.replace('quote', 'book'), {}))
  assert.equal(missing.code, 'capability_not_found')

  await agent.close()
  const gone = await failureOf(caller.invoke(uri, { nights: 2 }))
  assert.equal(gone.code, 'unreachable')
} finally {
  await caller.close()
  await agent.close()
}
