import { X509Certificate } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname, resolve } from 'node:path'
import type { Config } from '@switchboard/server'
import { isPortFree } from '../port.js'
import { tlsFailureOf } from '../tls-failure.js'
import { type Finding, fail, messageOf, ok, warn } from './finding.js'
import { portOwner } from './port-owner.js'

/** The oldest Node that works. */
const LEAST_NODE = [20, 19] as const

export function checkNode(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const isNew = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])
  return isNew
    ? ok('node', `version ${version}`)
    : fail('node', `version ${version} is too old`, `install Node ${LEAST_NODE.join('.')} or later`)
}

/** What a running directory says about itself. */
export interface RunningDirectory {
  readonly status: string
  readonly agents: number
  /** Milliseconds that its clock is ahead of ours. */
  readonly clockAhead: number
}

/** Milliseconds for a response. */
const TIMEOUT_MS = 5000

/** Asks the directory for its state; undefined if none is running. */
export async function findDirectory(
  url: string,
): Promise<{ readonly finding: Finding; readonly running?: RunningDirectory }> {
  try {
    const response = await fetch(new URL('health/ready', url.endsWith('/') ? url : `${url}/`), {
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const received = Date.now()
    const body: unknown = await response.json().catch(() => undefined)
    if (typeof body !== 'object' || body === null || !('status' in body))
      return {
        finding: fail('directory', `${url} is not a directory`, 'check --url, or which program uses the port'),
      }
    const index = 'index' in body && typeof body.index === 'object' ? body.index : undefined
    const agents = index && 'agents' in index ? Number(index.agents) : 0
    const at = Date.parse(response.headers.get('date') ?? '')
    const clockAhead = Number.isNaN(at) ? 0 : at - received
    const status = String(body.status)
    const text = `${status} at ${url}, with ${agents} agents`
    const finding =
      status === 'ready' ? ok('directory', text) : warn('directory', text, 'see its log, or wait until it is ready')
    return { finding, running: { status, agents, clockAhead } }
  } catch (error) {
    const tls = tlsFailureOf(error)
    if (tls !== undefined) return { finding: fail('directory', `${url} cannot be reached over TLS`, tls) }
    return { finding: ok('directory', `none is running at ${url}`) }
  }
}

export async function checkPort({ host, port }: Config, isRunning: boolean): Promise<Finding> {
  if (port === 0) return ok('port', 'a free one is picked')
  try {
    if (await isPortFree({ host, port })) return ok('port', `${port} of ${host} is free`)
  } catch (error) {
    return fail('port', `${host}:${port} cannot be used: ${messageOf(error)}`, 'choose another --host or --port')
  }
  const owner = (await portOwner(port)) ?? 'another program'
  if (isRunning) return ok('port', `${port} of ${host} is used by the directory: ${owner}`)
  return fail('port', `${port} of ${host} is used by ${owner}`, 'stop it, or choose another port with --port')
}

/** Free bytes below which a check fails or warns. */
const LEAST_SPACE = 100e6
const LOW_SPACE = 1e9

export async function checkFolder(
  folder: string,
  inspect: (folder: string) => Promise<{ hasStore: boolean; isLocked: boolean; agents: number }>,
  isRunning: boolean,
): Promise<Finding[]> {
  const path = resolve(folder)
  // What does not exist yet is created in the nearest folder that does.
  let existing = path
  while (!existsSync(existing)) existing = dirname(existing)
  const remedy = 'choose another folder with --data, or change its owner or permissions'
  try {
    if (!(await stat(existing)).isDirectory()) return [fail('data', `${existing} is not a folder`, remedy)]
    await access(existing, constants.W_OK)
  } catch {
    return [fail('data', `${existing} is not writable`, remedy)]
  }
  const { bavail, bsize } = await statfs(existing)
  return [await checkStore(path, inspect, isRunning), checkSpace(existing, bavail * bsize)]
}

async function checkStore(
  path: string,
  inspect: (folder: string) => Promise<{ hasStore: boolean; isLocked: boolean; agents: number }>,
  isRunning: boolean,
): Promise<Finding> {
  try {
    const { hasStore, isLocked, agents } = await inspect(path)
    if (!hasStore) return ok('data', `${path} will be created at the first start`)
    if (!isLocked) return ok('data', `${path} has ${agents} agents, and no server uses it`)
    if (isRunning) return ok('data', `${path} has ${agents} agents, and a server uses it`)
    return warn(
      'data',
      `${path} is used by a server, but none responds`,
      'stop that server before you start another one on this folder, or pass its --port or --url',
    )
  } catch (error) {
    return fail(
      'data',
      messageOf(error),
      'restore a backup (switchboard restore), or install the version that wrote the data',
    )
  }
}

export function checkSpace(path: string, bytes: number): Finding {
  const text = `${(bytes / 1e9).toFixed(1)} GB are free at ${path}`
  if (bytes < LEAST_SPACE) return fail('space', text, 'free some space: the store cannot grow')
  return bytes < LOW_SPACE ? warn('space', text, 'free some space') : ok('space', text)
}

const DAY_MS = 86_400_000
/** Days before the end of a certificate at which to renew it. */
const RENEW_DAYS = 14

/** The config has checked that the files can be read and belong together. */
export function checkCertificate({ tls, publicUrl, behindProxy }: Config, now: number = Date.now()): Finding {
  if (!tls) return ok('tls', behindProxy ? 'left to the proxy' : 'not used: plain HTTP, on this computer only')
  const certificate = new X509Certificate(tls.cert)
  const [from, to] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)]
  const until = `the certificate of ${certificate.subject.replaceAll('\n', ', ')} is valid until ${certificate.validTo}`
  if (now > to) return fail('tls', `the certificate expired on ${certificate.validTo}`, 'renew it')
  if (now < from)
    return fail(
      'tls',
      `the certificate is not valid before ${certificate.validFrom}`,
      'set the clock of this computer, or use another certificate',
    )
  const host = publicUrl === undefined ? undefined : new URL(publicUrl).hostname
  if (host !== undefined && !isFor(certificate, host))
    return warn('tls', `the certificate is not for ${host}, the host of --public-url`, 'have one issued for this name')
  return to - now < RENEW_DAYS * DAY_MS ? warn('tls', until, 'renew it soon') : ok('tls', until)
}

function isFor(certificate: X509Certificate, host: string): boolean {
  const address = host.replace(/^\[(.*)\]$/, '$1')
  return (isIP(address) ? certificate.checkIP(address) : certificate.checkHost(host)) !== undefined
}

/** Milliseconds by which clocks may differ. Tokens and signatures are valid for minutes. */
const MAX_AHEAD_MS = 30_000

/** @param ahead milliseconds that another clock is ahead of ours; undefined if there is none to compare with */
export function checkClock(ahead: number | undefined, whose: string): Finding {
  if (ahead === undefined) return ok('clock', `${new Date().toISOString()}; nothing to compare it with`)
  const text = `${(Math.abs(ahead) / 1000).toFixed(1)} s ${ahead > 0 ? 'behind' : 'ahead of'} that of ${whose}`
  if (Math.abs(ahead) <= MAX_AHEAD_MS) return ok('clock', text)
  return fail('clock', text, 'synchronise both clocks (NTP): tokens, signatures and lifetimes depend on them')
}
