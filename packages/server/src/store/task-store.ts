/** Deferred calls. One process at a time holds a task to work on it, and must renew its hold. */
export interface TaskStore {
  /** False if the owner already has `open` unfinished tasks; otherwise trims its finished ones. */
  create(task: StoredTask, limits: { open: number } & KeptTasks): Promise<boolean>
  /** Deletes the oldest finished tasks of an owner, down to what may be kept; the newest one always is. */
  trim(owner: string, kept: KeptTasks): Promise<void>
  usage(owner: string): Promise<TaskUsage>
  /** The tasks of an owner that have changed last, newest first. */
  list(owner: string, limit: number): Promise<ListedTask[]>
  get(id: string): Promise<StoredTask | undefined>
  /** Stores the task and increments its version; false if another process has changed it since. */
  update(task: StoredTask): Promise<boolean>
  /** Claims unfinished tasks that nobody holds at this time, oldest first. */
  claim(claim: { holder: string; at: number; until: number; limit: number }): Promise<StoredTask[]>
  /** Extends the hold on the tasks that this process still holds and that are unfinished; returns their ids. */
  renew(holder: string, ids: readonly string[], until: number): Promise<string[]>
}

/** The finished tasks of one owner that are kept. */
export interface KeptTasks {
  count: number
  /** Of their answers together. */
  bytes: number
}

/** What the tasks of one owner use. */
export interface TaskUsage {
  /** Unfinished tasks. */
  open: number
  /** Of the answers of the finished ones. */
  bytes: number
}

export interface StoredTask {
  id: string
  /** Increases with every update and claim. */
  version: number
  /** Subject of the caller who created it. */
  owner: string
  /** The agent and its registration number: a later registration of the name is not called. */
  agent: { id: string; number: number }
  operation: string
  session?: string
  status: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
  /** The next step: make the call, poll the agent, or tell the agent and the webhook how it ended; absent: finished. */
  work?: 'run' | 'poll' | 'notify'
  /** Everything needed to make the call, encrypted. */
  request: string
  idempotent: boolean
  /** JSON: the agent's own task, once it has accepted the work. */
  agentTask?: string
  /** JSON: the result or the error, and whether the agent was told to stop. */
  answer?: string
  /** State of the webhook notification; absent: no webhook. */
  callback?: { state: 'waiting' | 'delivered' | 'failed'; attempts: number }
  /** The process that works on the task, until `heldUntil`. */
  holder?: string
  heldUntil: number
  createdAt: number
  updatedAt: number
  /** When the task is given up or, if it is finished, deleted. */
  expiresAt: number
}

/** A task without what was sent and what came back, which can be large. */
export type ListedTask = Omit<StoredTask, 'request' | 'answer'>
