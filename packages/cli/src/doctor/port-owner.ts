import { readdir, readFile, readlink } from 'node:fs/promises'

/** State of a listening socket in /proc/net/tcp. */
const LISTENING = '0A'

/** The program that listens on a TCP port, such as `node (process 4711)`; undefined if the system does not tell. */
export async function portOwner(port: number): Promise<string | undefined> {
  // Only Linux has /proc, and only root sees the programs of other users there.
  const tables = await Promise.all(
    ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readFile(path, 'utf8').catch(() => '')),
  )
  const inodes = new Set(tables.flatMap((table) => listenersIn(table, port)))
  if (inodes.size === 0) return undefined
  const processes = await readdir('/proc').catch(() => [])
  for (const id of processes.filter((name) => /^\d+$/.test(name))) {
    const files = await readdir(`/proc/${id}/fd`).catch(() => [])
    for (const file of files) {
      const target = await readlink(`/proc/${id}/fd/${file}`).catch(() => '')
      if (!inodes.has(target)) continue
      const name = await readFile(`/proc/${id}/comm`, 'utf8').catch(() => 'a program')
      return `${name.trim()} (process ${id})`
    }
  }
  return undefined
}

/** `socket:[inode]` for each socket that listens on the port. */
const listenersIn = (table: string, port: number): string[] =>
  table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
    const isThis = state === LISTENING && Number.parseInt(local.split(':')[1] ?? '', 16) === port
    return isThis ? [`socket:[${inode}]`] : []
  })
