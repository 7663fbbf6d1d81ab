/** Aborts when the person, or the system, wants the program to end; a second signal ends it at once. */
export function untilInterrupted(): AbortSignal {
  const control = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => control.abort())
  return control.signal
}
