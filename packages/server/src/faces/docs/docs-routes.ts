import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DirectoryError, isObject, matchesTag } from '@switchboard/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pathOf } from '../read-request.js'
import { addVary } from '../respond.js'
import type { Route, RouteGroup } from '../route-group.js'
import { plain } from '../schemas/response.js'

/** What `scripts/docs` builds; the same folder whether this file runs from `src` or from `dist`. */
const DOCS_FOLDER = fileURLToPath(new URL('../../../dist/docs/', import.meta.url))

/** Scripts, styles and images of this directory only, none inline. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** For editors; see `config/editor-schema.ts`. */
const CONFIG_SCHEMA = 'config.schema.json'

/** Names of pages and files: no hidden ones, and no way out of the folder. */
const SAFE_PATH = /^[\w-]+(?:[./][\w-]+)*$/

/** The documentation: pages and the files that they load, all built ahead. */
export function createDocsRoutes(): RouteGroup {
  const version = existsSync(`${DOCS_FOLDER}version`) ? readFileSync(`${DOCS_FOLDER}version`, 'utf8') : undefined

  function sendPage(request: FastifyRequest, reply: FastifyReply, name: string): FastifyReply {
    if (version === undefined)
      throw new DirectoryError('not_found', 'the documentation is not built: run `npm run build` in the repository')
    const path = pathOf(request)
    // The links of a page are relative to its address without a slash.
    if (path.endsWith('/')) return reply.redirect(`../${path.split('/').at(-2)}`, 308)
    // Weak: the same for the page and its compressed copies.
    const tag = `W/"${version}"`
    addVary(reply, 'Accept-Encoding')
    reply
      .header('content-security-policy', CONTENT_SECURITY_POLICY)
      .header('referrer-policy', 'same-origin')
      .header('cache-control', 'no-cache')
      .header('etag', tag)
    if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send()
    return reply.sendFile(name, DOCS_FOLDER, { etag: false, lastModified: false, cacheControl: false })
  }

  const page: Omit<Route, 'path' | 'handle'> = {
    method: 'GET',
    summary: 'The documentation, as pages',
    access: 'open',
    responses: {
      200: plain('an HTML page', 'text/html'),
      304: 'not modified',
      308: 'for a path that ends with a slash',
    },
  }
  return {
    name: 'documentation',
    summary: 'Pages for people',
    errors: 'application/problem+json',
    routes: [
      { ...page, path: '/docs', handle: (request, reply) => sendPage(request, reply, 'index.html') },
      {
        ...page,
        path: '/docs/*',
        isPage: true,
        handle: (request, reply) => {
          const path = isObject(request.params) ? String(request.params['*']) : ''
          if (!SAFE_PATH.test(path)) throw new DirectoryError('not_found', 'there is no such page: see /docs')
          // Names of assets contain a digest of their content.
          if (path.startsWith('assets/'))
            return reply.sendFile(path, DOCS_FOLDER, { immutable: true, maxAge: '365d', lastModified: false })
          return sendPage(request, reply, path === CONFIG_SCHEMA ? path : `${path}.html`)
        },
      },
    ],
  }
}
