import { isObject, type JsonObject, type JsonValue } from '@switchboard/protocol'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createServer, type Server } from '../src/app.js'
import { DEFAULTS } from '../src/config/settings.js'
import { temporaryFolder } from './support/process.js'

interface Operation {
  path: string
  method: string
  operation: JsonObject
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

const folder = temporaryFolder()
let server: Server
let url: string
let document: JsonObject
let operations: Operation[]
beforeAll(async () => {
  server = await createServer({ ...DEFAULTS, port: 0, data: folder.path, logLevel: 'silent' })
  url = await server.listen()
  document = JSON.parse(await (await fetch(`${url}/openapi.json`)).text())
  operations = entries(document.paths).flatMap(([path, methods]) =>
    entries(methods).map(([method, operation]) => ({ path, method, operation: isObject(operation) ? operation : {} })),
  )
})
afterAll(async () => {
  await server.close()
  folder.remove()
})

const entries = (value: JsonValue | undefined): [string, JsonValue][] => (isObject(value) ? Object.entries(value) : [])
const objects = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** What a reference stands for. */
function resolve(value: JsonValue): JsonObject {
  const target =
    isObject(value) && typeof value.$ref === 'string'
      ? value.$ref
          .slice(2)
          .split('/')
          .reduce<JsonValue | undefined>((at, step) => (isObject(at) ? at[step] : undefined), document)
      : value
  return isObject(target) ? target : {}
}

/** Other paths of an operation. */
const aliasesOf = ({ operation }: Operation): string[] =>
  Array.isArray(operation['x-aliases']) ? operation['x-aliases'].map(String) : []

/** The paths of the application's routes, parsed from the tree that Fastify prints. */
function routesOf(app: FastifyInstance): string[] {
  const parents: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, indent = '', segment = ''] = /^([│ ]*)[├└]── (\S+)/.exec(line) ?? []
      const depth = indent.length / 4
      parents[depth] = `${depth === 0 ? '' : parents[depth - 1]}${segment}`
      return parents[depth].replaceAll(/:(\w+)/g, '{$1}')
    })
}

/** Responses that have no body although their status allows one. */
const WITHOUT_BODY = new Set(['post /ad/r 200', 'post /ad/r 201', 'post /mcp 202'])

/** Pages and files for people, which are not part of the API. */
const isPage = (path: string): boolean => path === '/' || /^\/(console(\*?$|\/)|docs\*|robots\.txt$)/.test(path)

describe('/openapi.json', () => {
  it('describes exactly the paths that are served, except pages', () => {
    const paths = routesOf(server.app).filter((path) => !isPage(path))
    const described = new Set([...Object.keys(Object(document.paths)), ...operations.flatMap(aliasesOf)])
    expect(paths.sort()).toEqual([...described].sort())
    expect(operations.length).toBeGreaterThan(40)
  })

  it('describes a route once, and names its other paths', async () => {
    const paths = Object.keys(Object(document.paths))
    expect(paths.filter((path) => path.startsWith('/v1/'))).toEqual([])
    const search = operations.find(({ path }) => path === '/agents/search')
    expect(search && aliasesOf(search)).toEqual(['/v1/agents/search'])
    expect(search?.operation.description).toBe('Also at `/v1/agents/search`. Counts against the `search` limit.')
    for (const { path, method, operation } of operations) {
      for (const alias of aliasesOf({ path, method, operation })) {
        expect(paths).not.toContain(alias)
        const [own, other] = await Promise.all(
          [path, alias].map((each) => fetch(url + each.replaceAll(/[{}]/g, 'x'), { method: method.toUpperCase() })),
        )
        expect(other?.status, alias).toBe(own?.status)
      }
    }
  })

  it('describes exactly the methods of each path', async () => {
    for (const [path, methods] of entries(document.paths)) {
      const response = await fetch(url + path.replaceAll(/[{}]/g, 'x'), { method: 'OPTIONS' })
      const allowed = (response.headers.get('allow') ?? '').split(', ').sort()
      expect(
        Object.keys(Object(methods))
          .map((name) => name.toUpperCase())
          .sort(),
        path,
      ).toEqual(allowed)
    }
  })

  it('is OpenAPI 3.1 with a title, a version and the URL of the server', () => {
    expect(document).toMatchObject({
      openapi: expect.stringMatching(/^3\.1\.\d+$/),
      info: { title: expect.any(String), version: expect.any(String), license: { name: 'Apache-2.0' } },
      servers: [{ url }],
    })
    const known = [
      'openapi',
      'info',
      'servers',
      'tags',
      'paths',
      'components',
      'security',
      'webhooks',
      'externalDocs',
      'jsonSchemaDialect',
    ]
    expect(Object.keys(document).filter((name) => !known.includes(name))).toEqual([])
  })

  it('gives each operation a unique id and a summary', () => {
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = objects(document.tags).map(({ name }) => name)
    for (const { path, method, operation } of operations) {
      const where = `${method} ${path}`
      expect(METHODS, where).toContain(method)
      expect(path, where).toMatch(/^\/[^?#:]*$/)
      expect(operation.operationId, where).toMatch(/^[a-zA-Z][\w.-]*$/)
      expect(operation.summary, where).toMatch(/^\S.{3,}/)
      for (const tag of Array.isArray(operation.tags) ? operation.tags : []) expect(tags, where).toContain(tag)
    }
  })

  it('has a parameter for each path variable, and no duplicates', () => {
    for (const { path, method, operation } of operations) {
      const parameters = objects(operation.parameters)
      const inPath = parameters.filter((parameter) => parameter.in === 'path')
      const variables = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      expect(
        inPath.map(({ name }) => name),
        `${method} ${path}`,
      ).toEqual(variables)
      expect(inPath.every(({ required }) => required === true)).toBe(true)
      const names = parameters.map((parameter) => `${parameter.in} ${parameter.name}`)
      expect(new Set(names).size, `${method} ${path}`).toBe(names.length)
      for (const parameter of parameters) {
        expect(['path', 'query', 'header']).toContain(parameter.in)
        expect(isObject(parameter.schema)).toBe(true)
      }
    }
  })

  it('describes all responses, including errors in the media type of the draft', () => {
    for (const { path, method, operation } of operations) {
      const answers = entries(operation.responses)
      expect(answers.length, `${method} ${path}`).toBeGreaterThan(1)
      for (const [status, answer] of answers) {
        expect(status).toMatch(/^([1-5]\d\d|default)$/)
        expect(resolve(answer).description).toMatch(/^\S/)
      }
      const [type] = Object.keys(Object(resolve(Object(operation.responses).default).content))
      const problem =
        /^\/(ad\/|\.well-known|health|metrics|docs|openapi|problems|tasks|agents\/\{id\}\/(agent|server))/.test(path)
      expect(type, path).toBe(problem ? 'application/problem+json' : 'application/json')
    }
  })

  it('has a schema for every response with a body, and for failures', () => {
    for (const { path, method, operation } of operations) {
      const responses = entries(operation.responses)
      const bodies = responses.filter(([status]) => !/^(204|3\d\d)$/.test(status))
      for (const [status, response] of bodies) {
        const where = `${method} ${path} ${status}`
        const content = entries(resolve(response).content)
        expect(content.length > 0, where).toBe(!WITHOUT_BODY.has(where))
        for (const [, media] of content) expect(isObject(media) && isObject(media.schema), where).toBe(true)
      }
      const statuses = responses.map(([status]) => status)
      expect(
        statuses.some((status) => /^[23]/.test(status)),
        `${method} ${path}`,
      ).toBe(true)
      expect(statuses, `${method} ${path}`).toContain('default')
    }
  })

  it('has request bodies only for methods with a body, and references that resolve', () => {
    const references: string[] = []
    JSON.stringify(document, (name, value) => {
      if (name === '$ref' && typeof value === 'string') references.push(value)
      return value
    })
    for (const reference of new Set(references)) {
      expect(resolve({ $ref: reference }), reference).not.toEqual({})
    }
    for (const { path, method, operation } of operations) {
      if (method === 'get' || method === 'delete') expect(operation.requestBody, `${method} ${path}`).toBeUndefined()
      for (const [type, content] of entries(Object(operation.requestBody).content)) {
        expect(type).toMatch(/^(application|\*)\//)
        expect(isObject(content) && isObject(content.schema)).toBe(true)
      }
    }
  })

  it('requires credentials exactly where the server does', async () => {
    const schemes = Object.keys(Object(Object(document.components).securitySchemes))
    for (const { path, method, operation } of operations) {
      const security = objects(operation.security)
      for (const scheme of security.flatMap((choice) => Object.keys(choice))) expect(schemes).toContain(scheme)
      const optional = security.length === 0 || security.some((choice) => Object.keys(choice).length === 0)
      const { status } = await fetch(url + path.replaceAll(/[{}]/g, 'x'), { method: method.toUpperCase() })
      expect(status === 401, `${method} ${path} → ${status}`).toBe(!optional)
    }
  })
})
