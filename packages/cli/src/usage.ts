/** Wrong usage of a command; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A command that failed; exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
