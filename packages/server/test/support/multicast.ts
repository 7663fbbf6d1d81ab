import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'

/** The group of multicast DNS. */
const GROUP = '224.0.0.251'

/** Why multicast does not work on this machine's loopback interface, such as in some containers; undefined: it does. */
export async function multicastProblem(): Promise<string | undefined> {
  const socket = createSocket({ type: 'udp4', reuseAddr: true })
  try {
    socket.bind(0, '0.0.0.0')
    await once(socket, 'listening', { signal: AbortSignal.timeout(2000) })
    socket.addMembership(GROUP, '127.0.0.1')
    socket.setMulticastInterface('127.0.0.1')
    const received = once(socket, 'message', { signal: AbortSignal.timeout(2000) })
    socket.send('probe', socket.address().port, GROUP)
    await received
    return undefined
  } catch (error) {
    return `skipped: no multicast on this machine (${error instanceof Error ? error.message : error})`
  } finally {
    socket.close()
  }
}

/** Why Avahi, an implementation of multicast DNS that is not ours, cannot be used here; undefined: it can. */
export function avahiProblem(): string | undefined {
  try {
    execFileSync('avahi-daemon', ['--check'], { stdio: 'ignore' })
    execFileSync('avahi-browse', ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return 'skipped: avahi-browse is not installed, or avahi-daemon is not running'
  }
}
