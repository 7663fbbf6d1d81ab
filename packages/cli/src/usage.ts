/** A command that was called in a way it does not understand; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A command that did not do what it was asked to, for a reason that the message tells; exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}
