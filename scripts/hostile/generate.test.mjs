import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { createGenerator, operationsOf } from './generate.mjs'

const paths = {
  '/agents/{id}': { get: { parameters: [{ in: 'path', name: 'id' }] }, delete: {} },
  '/agents': { get: { parameters: [{ in: 'query', name: 'top' }] }, post: { requestBody: {} } },
}
const settings = { operations: operationsOf({ paths }), agents: 100, callers: ['anonymous', 'publisher'] }
const REQUESTS = 400

const all = (seed) => Array.from({ length: REQUESTS }, (_, n) => createGenerator({ ...settings, seed })(n))

/** Bodies are too large to compare one by one. */
function digest(requests) {
  const hash = createHash('sha256')
  for (const { body = '', ...request } of requests) hash.update(JSON.stringify(request)).update(body)
  return hash.digest('hex')
}

it('the same seed generates the same hostile requests, and another seed others', () => {
  const first = digest(all(1))
  expect(digest(all(1))).toBe(first)
  expect(digest(all(2))).not.toBe(first)
})

it('every operation is attacked, in every manner, and only agents of the test are deleted', () => {
  const requests = all(1)
  for (const { method, path } of settings.operations) {
    const pattern = new RegExp(`^${path.replace('{id}', '[^/]+')}(\\?|$)`)
    expect(
      requests.some((each) => each.method === method && pattern.test(each.path)),
      `${method} ${path}`,
    ).toBe(true)
  }
  expect(new Set(requests.map(({ manner }) => manner))).toEqual(
    new Set(['plain', 'slow reader', 'slow writer', 'leaves early', 'socket']),
  )
  const deleted = requests.filter(({ method }) => method === 'DELETE')
  expect(deleted.filter(({ path }) => !path.startsWith('/agents/hostile-'))).toEqual([])
})
