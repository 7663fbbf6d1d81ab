import { StoreError } from './store-error.js'

/** Called when an operation has ended. Those of a part of the store have its name in front, as in `tasks.claim`. */
export type OnOperation = (operation: string, ms: number, isOk: boolean) => void

export interface ObservedStore<T> {
  readonly store: T
  /** Writes of agents that are not durable yet. */
  pendingWrites(): number
}

/** Errors that say nothing about the state of the store. */
const NO_FAULT: ReadonlySet<StoreError['code']> = new Set(['invalid', 'closed', 'cursor_lost'])

const isFault = (error: unknown): boolean => !(error instanceof StoreError && NO_FAULT.has(error.code))

/** A store that reports how long its operations take. Iterations are not reported: their pace is that of the reader. */
export function observeStore<T extends object>(store: T, onOperation: OnOperation): ObservedStore<T> {
  let pendingWrites = 0

  const observeCall =
    (operation: string, call: (args: unknown[]) => unknown) =>
    (...args: unknown[]): unknown => {
      const started = performance.now()
      const result = call(args)
      if (!(result instanceof Promise)) return result
      const isWrite = operation === 'write'
      const end = (isOk: boolean): void => {
        if (isWrite) pendingWrites--
        onOperation(operation, performance.now() - started, isOk)
      }
      if (isWrite) pendingWrites++
      result.then(
        () => end(true),
        (error: unknown) => end(!isFault(error)),
      )
      return result
    }

  const observe = <Part extends object>(target: Part, prefix: string): Part => {
    const observed = new Map<string | symbol, unknown>()
    const wrap = (name: string | symbol): unknown => {
      const member: unknown = Reflect.get(target, name)
      const operation = `${prefix}${String(name)}`
      if (typeof member === 'function') return observeCall(operation, (args) => Reflect.apply(member, target, args))
      return typeof member === 'object' && member !== null ? observe(member, `${operation}.`) : undefined
    }
    return new Proxy(target, {
      get(_, name) {
        if (!observed.has(name)) observed.set(name, wrap(name))
        return observed.get(name) ?? Reflect.get(target, name)
      },
    })
  }

  return { store: observe(store, ''), pendingWrites: () => pendingWrites }
}
