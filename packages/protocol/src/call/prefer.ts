/** Whether a Prefer header asks for a deferred answer: 202 and a task (RFC 7240 §4.1, C-62). */
export const prefersAsync = (prefer: string | null | undefined): boolean =>
  /(^|,)\s*respond-async\s*(;|,|$)/i.test(prefer ?? '')
