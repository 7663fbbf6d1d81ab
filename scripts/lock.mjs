// A mutex between processes: a folder, because mkdir is atomic. It holds the pid of its owner.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 100
const BEAT_MS = 2_000
/** A lock that its owner has not touched for this long is stale, even if the pid now belongs to another process. */
const STALE_MS = 30_000

function make(folder) {
  try {
    mkdirSync(folder)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

const ageOf = (path) => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM' // alive, but another user's
  }
}

function isStale(folder) {
  if (ageOf(folder) > STALE_MS) return true
  try {
    return !isAlive(Number(readFileSync(join(folder, 'pid'), 'utf8')))
  } catch {
    return false // just created or just released: check again
  }
}

/** Removes a stale lock; one process at a time, so that none removes a lock that another has just taken. */
function breakStale(folder) {
  const breaker = `${folder}.break`
  if (ageOf(breaker) > STALE_MS) rmSync(breaker, { recursive: true, force: true })
  if (!make(breaker)) return
  try {
    if (isStale(folder)) rmSync(folder, { recursive: true, force: true })
  } finally {
    rmSync(breaker, { recursive: true, force: true })
  }
}

/** Waits for the lock and resolves to a function that releases it. `onWait` is called once if it has to wait. */
export async function takeLock(folder, { onWait }) {
  mkdirSync(join(folder, '..'), { recursive: true })
  for (let waited = false; !make(folder); ) {
    if (isStale(folder)) breakStale(folder)
    else {
      if (!waited) onWait()
      waited = true
      await sleep(POLL_MS)
    }
  }
  // By rename, so that nobody reads a pid that is half written.
  writeFileSync(join(folder, 'pid.new'), String(process.pid))
  renameSync(join(folder, 'pid.new'), join(folder, 'pid'))
  const beat = setInterval(() => utimesSync(folder, new Date(), new Date()), BEAT_MS)
  beat.unref()
  return () => {
    clearInterval(beat)
    rmSync(folder, { recursive: true, force: true })
  }
}
