import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Agent } from 'undici'

const exec = promisify(execFile)

/** A certificate and its private key, as PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** A certificate authority of your own. On the Internet you do not need one: there, Node trusts the usual authorities. */
export interface Authority {
  readonly cert: string
  /** A certificate for a host or for a caller. */
  issue(name: string): Promise<Certificate>
  close(): Promise<void>
}

/** Creates an authority with `openssl`, in a temporary folder. */
export async function createAuthority(): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-example-'))
  const make = async (name: string, more: readonly string[]): Promise<Certificate> => {
    const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)]
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    await exec('openssl', ['req', '-x509', ...curve, '-subj', `/CN=${name}`, '-keyout', key, '-out', cert, ...more])
    return { cert: await readFile(cert, 'utf8'), key: await readFile(key, 'utf8') }
  }
  const signer = ['-CA', join(folder, 'authority.pem'), '-CAkey', join(folder, 'authority.key')]
  const forHost = (name: string) => ['-addext', `subjectAltName=DNS:${name}`, '-addext', 'basicConstraints=CA:FALSE']
  const { cert } = await make('authority', [])
  return {
    cert,
    issue: (name) => make(name, [...signer, ...forHost(name)]),
    close: () => rm(folder, { recursive: true, force: true }),
  }
}

/** A fetch that trusts an authority and, if there is one, shows a client certificate. */
export function createFetch(authority: Authority, client?: Certificate) {
  const dispatcher = new Agent({ connect: { ca: authority.cert, ...client } })
  // Node's fetch passes requests to the dispatcher. (Object.assign, since Node and undici each have types for it.)
  const trusting: typeof fetch = (input, init) => fetch(input, Object.assign({}, init, { dispatcher }))
  return { fetch: trusting, close: () => dispatcher.close() }
}
