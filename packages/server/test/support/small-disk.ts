import { execFileSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A file system in memory that is soon full. */
export interface SmallDisk {
  readonly path: string
  /** Uses up all of its space. */
  fill(): void
  /** Makes room again. */
  free(): void
  makeReadOnly(): void
  unmount(): void
}

/** Mounts a disk at a new folder; undefined without the right to do so, which root usually has. */
export function mountSmallDisk(path: string, size: string): SmallDisk | undefined {
  mkdirSync(path)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  const filler = join(path, 'filler')
  return {
    path,
    fill() {
      const file = openSync(filler, 'w')
      try {
        while (writeSync(file, Buffer.alloc(4096)) > 0);
      } catch {
        closeSync(file)
      }
    },
    free: () => rmSync(filler),
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', path]),
    unmount: () => void execFileSync('umount', ['-l', path]),
  }
}
