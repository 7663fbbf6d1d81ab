import Fastify from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { createRequestLog } from './request-log.js'

const apps: { close(): Promise<unknown> }[] = []
afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())))

/** The lines that a request writes at this level. */
async function linesAt(level: string): Promise<Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = []
  const stream = { write: (line: string) => void lines.push(JSON.parse(line)) }
  const app = Fastify({ logger: { level, stream }, childLoggerFactory: createRequestLog, genReqId: () => 'r-1' })
  apps.push(app)
  app.get('/', ({ log }) => {
    log.trace('trace')
    log.debug({ path: '/' }, 'debug')
    log.info('info %s', 'formatted')
    log.warn({ a: 1 }, 'warn')
    log.error({ err: new Error('broken') }, 'error')
    log.fatal('fatal')
    log.silent('silent')
    log.child({ part: 'p' }).error('child')
    return 'done'
  })
  await app.inject('/')
  return lines.filter(({ msg }) => !/^(?:incoming request|request completed)$/.test(String(msg)))
}
const messages = (lines: readonly Record<string, unknown>[]): unknown[] => lines.map(({ msg }) => msg)

describe('createRequestLog', () => {
  it('writes lines with the id of the request, as a logger of Fastify does', async () => {
    const lines = await linesAt('debug')
    expect(messages(lines)).toEqual(['debug', 'info formatted', 'warn', 'error', 'fatal', 'child'])
    expect(lines.every(({ reqId }) => reqId === 'r-1')).toBe(true)
    expect(lines[2]).toMatchObject({ a: 1 })
    expect(lines[3]).toMatchObject({ err: { message: 'broken' } })
    expect(lines[5]).toMatchObject({ part: 'p' })
  })

  it('writes nothing below the level of the log', async () => {
    expect(messages(await linesAt('warn'))).toEqual(['warn', 'error', 'fatal', 'child'])
    expect(await linesAt('silent')).toEqual([])
  })
})
