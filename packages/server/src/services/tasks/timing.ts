/** Intervals of the task worker, in milliseconds. */
export interface TaskTiming {
  /** How long a process holds a task without renewing it. */
  readonly holdMs: number
  /** Between renewals of held tasks; tasks that nobody holds are claimed at the same time. */
  readonly renewMs: number
  /** Before the second attempt to notify a webhook; doubled before each further one. */
  readonly backoffMs: number
  /** Between attempts to store the state of a task. */
  readonly saveMs: number
  /** How long running calls may take to end when the directory stops; then the gateway stops too. */
  readonly closeMs: number
}

/** The default timing. */
export const TASK_TIMING: TaskTiming = {
  holdMs: 20_000,
  renewMs: 5000,
  backoffMs: 5000,
  saveMs: 1000,
  closeMs: 4000,
}
