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

describe('/openapi.json', () => {
  it('describes exactly the paths that are served', () => {
    expect(routesOf(server.app).sort()).toEqual(Object.keys(Object(document.paths)).sort())
    expect(operations.length).toBeGreaterThan(40)
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
        expect(isObject(answer) && typeof answer.description === 'string' && answer.description !== '').toBe(true)
      }
      const [type] = Object.keys(Object(Object(Object(operation.responses).default).content))
      const problem =
        /^\/(ad\/|\.well-known|health|metrics|docs|openapi|problems|tasks|agents\/\{id\}\/(agent|server))/.test(path)
      expect(type, path).toBe(problem ? 'application/problem+json' : 'application/json')
    }
  })

  it('has request bodies only for methods with a body, and references that resolve', () => {
    const references: string[] = []
    JSON.stringify(document, (name, value) => {
      if (name === '$ref' && typeof value === 'string') references.push(value)
      return value
    })
    for (const reference of new Set(references)) {
      const target = reference
        .slice(2)
        .split('/')
        .reduce<JsonValue | undefined>((at, step) => (isObject(at) ? at[step] : undefined), document)
      expect(isObject(target), reference).toBe(true)
    }
    for (const { path, method, operation } of operations) {
      if (method === 'get' || method === 'delete') expect(operation.requestBody, `${method} ${path}`).toBeUndefined()
      for (const [type, content] of entries(Object(operation.requestBody).content)) {
        expect(type).toMatch(/^application\//)
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

describe('/docs', () => {
  it('shows every operation on a page without scripts', async () => {
    const response = await fetch(`${url}/docs`)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/html/)
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    const page = await response.text()
    expect(page).toMatch(/^<!doctype html>/)
    expect(page).not.toMatch(/<script|javascript:|onerror=/i)
    for (const { path, method, operation } of operations) {
      expect(page).toContain(`<code>${method.toUpperCase()}</code></td><td><code>${path}</code>`)
      expect(page).toContain(String(operation.summary).replaceAll('&', '&amp;').replaceAll('"', '&quot;'))
    }
  })
})
