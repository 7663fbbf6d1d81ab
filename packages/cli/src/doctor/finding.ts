/** The result of one check of `switchboard doctor`. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly text: string
  /** What to do about it. */
  readonly remedy?: string
}

export const ok = (check: string, text: string): Finding => ({ check, state: 'ok', text })

export const warn = (check: string, text: string, remedy: string): Finding => ({ check, state: 'warn', text, remedy })

export const fail = (check: string, text: string, remedy: string): Finding => ({ check, state: 'fail', text, remedy })

export const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
