import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import SwaggerParser from '@apidevtools/swagger-parser'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import createClient from 'openapi-fetch'
import openapiTS, { astToString } from 'openapi-typescript'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startAgent, type TestAgent } from './invoke/agent.js'
import { startDirectory, type TestDirectory } from './support/directory.js'
import { temporaryFolder } from './support/process.js'

const folder = temporaryFolder()
let directory: TestDirectory
let agent: TestAgent
let text: string
beforeAll(async () => {
  ;[directory, agent] = await Promise.all([startDirectory(), startAgent()])
  text = (await directory.get('/openapi.json')).text
})
afterAll(async () => {
  await directory.close()
  await agent.close()
  folder.remove()
})

describe('/openapi.json', () => {
  it('is valid for two validators', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(text))
    expect([valid, errors]).toEqual([true, undefined])
    await SwaggerParser.validate(JSON.parse(text))
  })

  it('is clean for a linter, with its strictest rules', async () => {
    const config = await createConfig({ extends: ['recommended-strict'] })
    const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config })
    const shown = problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`)
    // Health checks need no credentials and have no parameters: nothing in a request can be wrong.
    const health = ['live', 'ready'].map((name) => `operation-4xx-response #/paths/~1health~1${name}/get/responses`)
    expect(shown.filter((problem) => !health.includes(problem))).toEqual([])
  })

  it('becomes types with which a program compiles that works, and mistakes do not', async () => {
    const types = astToString(await openapiTS(JSON.parse(text)))
    writeFileSync(join(folder.path, 'directory.mts'), types)
    const { errors, emitted } = compile(PROGRAM)
    expect(errors).toEqual([])
    const file = join(folder.path, 'program.mjs')
    writeFileSync(file, emitted)
    const { run }: { run: (client: unknown, endpoint: string) => Promise<unknown> } = await import(file)
    const key = await directory.makeKey({ subject: 'typed', scopes: ['publish', 'discover', 'invoke'] })
    const client = createClient({ baseUrl: directory.url, headers: { authorization: `Bearer ${key}` } })
    expect(await run(client, agent.url)).toEqual({
      id: 'echo',
      found: ['echo'],
      resolved: 'http',
      output: { text: 'hello' },
      task: 'completed',
      status: 404,
      code: 'NotFound',
    })
  })
})

/** A caller's program; each mistake is one that the generated types must reject. */
const PROGRAM = `
import type { Client } from 'openapi-fetch'
import type { components, paths } from './directory.mjs'

export async function run(client: Client<paths>, endpoint: string) {
  const document: components['schemas']['AidipDocument'] = {
    id: 'echo',
    name: 'Echo',
    description: 'Repeats what it is told.',
    capabilities: ['echo'],
    endpoint,
    operations: [{ name: 'echo', inputs: { text: 'string' }, outputs: { text: 'string' }, idempotent: true }],
  }
  // @ts-expect-error a document needs an endpoint
  const incomplete: components['schemas']['AidipDocument'] = { name: 'x', description: 'x', capabilities: [] }

  const registered = await client.POST('/agents', { body: document })
  const id: string | undefined = registered.data?.id

  const search = await client.POST('/agents/search', { body: { query: 'repeat a text', top: 3 } })
  const results = Array.isArray(search.data) ? search.data : (search.data?.results ?? [])
  const found: string[] = results.map((agent) => agent.id)
  // @ts-expect-error top is a number
  const wrongTop: paths['/agents/search']['post']['requestBody']['content']['application/json'] = { top: '3' }
  // @ts-expect-error there is no order of this name
  const wrongSort: components['schemas']['SearchRequest'] = { sort: 'price' }

  const resolution = await client.POST('/resolve', { body: { intent: 'repeat a text' } })
  const url = resolution.data?.candidates[0]?.invocation.url ?? ''
  // @ts-expect-error an intent is required
  client.POST('/resolve', { body: { top: 3 } })

  const path = { id: 'echo', operation: 'echo' }
  const call = await client.POST('/agents/{id}/{operation}', { params: { path }, body: { text: 'hello' } })
  // @ts-expect-error the operation is missing in the path
  client.POST('/agents/{id}/{operation}', { params: { path: { id: 'echo' } } })

  const deferred = await client.POST('/agents/{id}/{operation}', {
    params: { path, header: { Prefer: 'respond-async' } },
    body: { text: 'later' },
  })
  const { taskId } = deferred.data as components['schemas']['AcceptedTask']
  let task: components['schemas']['Task'] | undefined
  while (task === undefined || task.status === 'pending' || task.status === 'running') {
    task = (await client.GET('/tasks/{taskId}', { params: { path: { taskId } } })).data
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  // @ts-expect-error no task has this status
  const impossible = task.status === 'lost'

  const missing = await client.GET('/agents/{id}', { params: { path: { id: 'nobody' } } })
  const code: string | undefined = missing.error?.error.code
  return {
    id,
    found,
    resolved: url.split(':')[0],
    output: call.data,
    task: task.status,
    status: missing.response.status,
    code,
  }
}
`

/** Compiles with the strictest settings. */
function compile(source: string): { errors: string[]; emitted: string } {
  const file = join(folder.path, 'program.mts')
  writeFileSync(file, source)
  // Where the compiler looks for the types of the package.
  const target = fileURLToPath(import.meta.resolve('openapi-fetch'))
  let emitted = ''
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    skipLibCheck: true,
    paths: { 'openapi-fetch': [join(dirname(target), 'index.d.mts')] },
  }
  const program = ts.createProgram([file], options)
  const errors = ts.getPreEmitDiagnostics(program).map(({ messageText, file: at, start }) => {
    const line = at && start !== undefined ? at.getLineAndCharacterOfPosition(start).line + 1 : 0
    return `${at?.fileName}:${line} ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
  program.emit(program.getSourceFile(file), (_name, output) => {
    emitted = output
  })
  return { errors, emitted }
}
