import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DirectoryError, isObject } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { manifestLinks } from '../ard/manifest.js'
import { addVary } from '../respond.js'
import type { Route, RouteGroup } from '../route-group.js'
import { plain } from '../schemas/response.js'

/** What `packages/console` is bundled into; the same folder whether this file runs from `src` or from `dist`. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../../../dist/console/', import.meta.url))

/** Scripts and styles of this directory only; inline ones need the nonce of the response. */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const FILE_NAME = /^[\w-]+\.\w+$/

/** The web console: one page for all of its addresses, and the files that the page loads. */
export function createConsoleRoutes({ baseUrl }: { readonly baseUrl: () => string }): RouteGroup {
  const template = readTemplate()

  function sendPage({ url }: FastifyRequest, reply: FastifyReply): FastifyReply {
    // The router takes `GET *` for the start page.
    if (!url.startsWith('/')) throw new DirectoryError('invalid_request', 'the path of the URL must start with /')
    if (template === undefined) {
      throw new DirectoryError('not_found', 'the console is not built: run `npm run build` in the repository')
    }
    const nonce = randomBytes(16).toString('base64')
    const base = new URL(baseUrl()).pathname.replace(/\/?$/, '/')
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', policyWith(nonce))
      .header('referrer-policy', 'same-origin')
      .header('cross-origin-opener-policy', 'same-origin')
      .header('link', manifestLinks(baseUrl()))
      .header('cache-control', 'no-store') // each response has a nonce of its own
      .send(template.replaceAll('{{base}}', base).replaceAll('{{nonce}}', nonce))
  }

  const page = (path: string): Route => ({
    method: 'GET',
    path,
    summary: 'The web console',
    access: 'open',
    isPage: true,
    responses: { 200: plain('an HTML page', 'text/html') },
    handle: sendPage,
  })
  return {
    name: 'console',
    summary: 'The web console',
    errors: 'application/problem+json',
    routes: [
      page('/'),
      page('/console'),
      page('/console/*'),
      {
        ...page('/console/assets/:file'),
        summary: 'A file of the web console',
        handle: (request, reply) => {
          const file = isObject(request.params) ? String(request.params.file) : ''
          if (!FILE_NAME.test(file)) throw new DirectoryError('not_found', 'the console has no such file')
          addVary(reply, 'Accept-Encoding')
          return reply.sendFile(file, `${CONSOLE_FOLDER}assets`, { immutable: true, maxAge: '365d' })
        },
      },
      {
        ...page('/console/icon.svg'),
        summary: 'The icon',
        handle: (_request, reply) => reply.sendFile('icon.svg', CONSOLE_FOLDER),
      },
    ],
  }
}

const readTemplate = (): string | undefined =>
  existsSync(`${CONSOLE_FOLDER}index.html`) ? readFileSync(`${CONSOLE_FOLDER}index.html`, 'utf8') : undefined
