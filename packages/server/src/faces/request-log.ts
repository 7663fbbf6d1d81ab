import type { FastifyBaseLogger, FastifyServerOptions, LogLevel } from 'fastify'

const LEVELS: readonly string[] = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/**
 * Creates the logger of a request when something is written: most requests write nothing, and a logger with the id of the
 * request is half a kilobyte that lives as long as the request.
 */
export const createRequestLog: NonNullable<FastifyServerOptions['childLoggerFactory']> = (logger, bindings, options) =>
  new RequestLog(logger, () => logger.child(bindings, options))

class RequestLog implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger
  readonly #create: () => FastifyBaseLogger
  #own: FastifyBaseLogger | undefined

  constructor(parent: FastifyBaseLogger, create: () => FastifyBaseLogger) {
    this.#parent = parent
    this.#create = create
  }

  get level(): string {
    return this.#parent.level
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line)
  }

  error(...line: unknown[]): void {
    this.#write('error', line)
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line)
  }

  info(...line: unknown[]): void {
    this.#write('info', line)
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line)
  }

  trace(...line: unknown[]): void {
    this.#write('trace', line)
  }

  silent(): void {}

  child(...how: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#logger().child(...how)
  }

  #logger(): FastifyBaseLogger {
    this.#own ??= this.#create()
    return this.#own
  }

  #write(level: Exclude<LogLevel, 'silent'>, line: readonly unknown[]): void {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(this.level)) return
    const logger = this.#logger()
    Reflect.apply(logger[level], logger, line)
  }
}
