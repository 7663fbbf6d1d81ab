/** Milliseconds. */
export interface TaskTiming {
  /** How long a hold counts, and how often it is renewed and others' holds are looked at. */
  readonly holdMs: number
  readonly lookMs: number
  /** Before the second attempt at a webhook; doubled before each further one. */
  readonly backoffMs: number
  /** Between attempts to store what has become of a task. */
  readonly saveMs: number
  /** Calls under way may end by themselves for so long when the directory stops. */
  readonly closeMs: number
}

export const TASK_TIMING: TaskTiming = {
  holdMs: 20_000,
  lookMs: 5000,
  backoffMs: 5000,
  saveMs: 1000,
  closeMs: 5000,
}
