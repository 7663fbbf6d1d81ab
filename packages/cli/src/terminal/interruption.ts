/** Aborts on SIGINT or SIGTERM; a second signal terminates the program. */
export function untilInterrupted(): AbortSignal {
  const control = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => control.abort())
  return control.signal
}
