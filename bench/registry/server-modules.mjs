import { createRequire } from 'node:module'

const require = createRequire(new URL('../../packages/server/package.json', import.meta.url))

/** The same module instances that the server uses. */
export const Fastify = require('fastify')
export const Database = require('libsql')
