/** Deferred calls. What is left to do of a task is held by one process at a time, which must renew its hold. */
export interface TaskStore {
  /** False, and nothing is stored, where the owner has `open` unfinished ones; of its finished ones the newest `kept` stay. */
  create(task: StoredTask, limits: { open: number; kept: number }): Promise<boolean>
  get(id: string): Promise<StoredTask | undefined>
  /** Stores the task if it is still at this version, and makes it the next one; false: another was faster. */
  update(task: StoredTask): Promise<boolean>
  /** Takes over, oldest first, what is left to do and held by nobody at this time. */
  claim(claim: { holder: string; at: number; until: number; limit: number }): Promise<StoredTask[]>
  /** Prolongs the hold on these, as far as this process still holds them and something is left to do; returns which. */
  renew(holder: string, ids: readonly string[], until: number): Promise<string[]>
}

export interface StoredTask {
  id: string
  /** Grows with every update and claim. */
  version: number
  /** Subject of the caller who made it. */
  owner: string
  /** The agent, and the number of its registration: another one of that name is not called. */
  agent: { id: string; number: number }
  operation: string
  session?: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  /** What is left to do: make the call, ask the agent, tell the caller's webhook; absent: nothing. */
  work?: 'run' | 'poll' | 'notify'
  /** All that the call needs, encrypted. */
  request: string
  repeatable: boolean
  /** JSON: the agent's own task, once it has taken the work on. */
  agentTask?: string
  /** JSON: the result or the error. */
  answer?: string
  /** How the webhook is doing; absent: there is none. */
  callback?: { state: 'waiting' | 'delivered' | 'failed'; attempts: number }
  /** The process that works on it, and until when it does without being heard from. */
  holder?: string
  heldUntil: number
  createdAt: number
  updatedAt: number
  /** Unfinished: when it is given up; finished: when it is forgotten. */
  expiresAt: number
}
