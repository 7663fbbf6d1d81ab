import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Agent, request } from 'node:https'
import { join } from 'node:path'
import type { JsonValue } from '@switchboard/protocol'
import type { TestResponse } from './directory.js'

/** A certificate and its key, as PEM. */
export interface Identity {
  readonly cert: string
  readonly key: string
}

export interface Authority extends Identity {
  /** A certificate signed by this authority; alternative names such as `URI:https://a.example`. */
  issue(subject: string, ...alternatives: string[]): Identity
  /** A certificate that expired in the year 2020. */
  issueExpired(subject: string): Identity
  /** The list of revoked certificates, with these as well as those revoked before (PEM). */
  revoke(...certificates: Identity[]): string
}

/** A certificate authority created with openssl; its files are in the folder. */
export function createAuthority(folder: string, name: string): Authority {
  const make = (file: string, subject: string, names: readonly string[], signer: readonly string[]): Identity => {
    const [cert, key, config] = ['pem', 'key', 'cnf'].map((kind) => join(folder, `${file}.${kind}`))
    const constraint = `basicConstraints = critical, CA:${signer.length === 0 ? 'TRUE' : 'FALSE'}`
    const alternatives = names.map((text, i) => text.replace(':', `.${i} = `))
    writeFileSync(
      String(config),
      [
        ...['[req]', 'distinguished_name = name', 'x509_extensions = more', '[name]', '[more]', constraint],
        ...(names.length === 0 ? [] : ['subjectAltName = @names', '[names]', ...alternatives]),
        '',
      ].join('\n'),
    )
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
    const out = ['-keyout', String(key), '-out', String(cert), '-days', '2', '-subj', subject]
    execFileSync('openssl', ['req', '-x509', '-config', String(config), ...curve, ...out, ...signer], { stdio: 'pipe' })
    return { cert: readFileSync(String(cert), 'utf8'), key: readFileSync(String(key), 'utf8') }
  }
  const own = make(name, `/CN=${name}`, [], [])
  const [ownCert, ownKey] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)]
  let issued = 0

  /** Runs `openssl ca`, which keeps the list of certificates in a file. */
  const administer = (...options: string[]): void => {
    const [config, database, serial] = ['ca.cnf', 'index.txt', 'serial'].map((file) => join(folder, `${name}-${file}`))
    if (!existsSync(String(database))) {
      writeFileSync(String(database), '')
      writeFileSync(String(serial), 'A0\n')
      const lines = [
        ...['[ca]', 'default_ca = own', '[own]', `database = ${database}`, `serial = ${serial}`],
        ...[`new_certs_dir = ${folder}`, 'default_md = sha256', 'default_crl_days = 2', 'policy = any'],
        ...['[any]', 'commonName = supplied', ''],
      ]
      writeFileSync(String(config), lines.join('\n'))
    }
    const signer = ['-config', String(config), '-cert', ownCert, '-keyfile', ownKey]
    execFileSync('openssl', ['ca', '-batch', ...signer, ...options], { stdio: 'pipe' })
  }

  return {
    ...own,
    issue: (subject, ...alternatives) =>
      make(`${name}-${++issued}`, subject, alternatives, ['-CA', ownCert, '-CAkey', ownKey]),
    issueExpired(subject) {
      const file = join(folder, `${name}-expired-${++issued}`)
      const [cert, key, request] = [`${file}.pem`, `${file}.key`, `${file}.csr`]
      const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
      execFileSync('openssl', ['req', '-new', ...curve, '-keyout', key, '-out', request, '-subj', subject], {
        stdio: 'pipe',
      })
      administer(
        '-in',
        request,
        '-out',
        cert,
        '-startdate',
        '20200101000000Z',
        '-enddate',
        '20200601000000Z',
        '-notext',
      )
      return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
    },
    revoke(...certificates) {
      const [cert, list] = [join(folder, `${name}-revoked.pem`), join(folder, `${name}-list.pem`)]
      for (const certificate of certificates) {
        writeFileSync(cert, certificate.cert)
        administer('-revoke', cert)
      }
      administer('-gencrl', '-out', list)
      return readFileSync(list, 'utf8')
    },
  }
}

export interface TlsRequest {
  readonly method?: string
  readonly path: string
  /** The CA certificate that the client trusts. */
  readonly ca: string
  /** The client's certificate. */
  readonly identity?: Identity
  readonly headers?: Record<string, string>
  readonly body?: JsonValue
  /** Default: a new connection for each request. */
  readonly agent?: Agent
}

/** Sends one HTTPS request. */
export function sendTls(
  url: string,
  { method = 'GET', path, ca, identity, headers, body, agent }: TlsRequest,
): Promise<TestResponse> {
  const payload = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(path, url),
      {
        method,
        ca,
        ...identity,
        agent: agent ?? false,
        headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
      },
      async (response) => {
        try {
          const chunks: Buffer[] = []
          for await (const chunk of response) chunks.push(chunk)
          const text = Buffer.concat(chunks).toString()
          const names = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)])
          const json = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined
          resolve({ status: response.statusCode ?? 0, headers: new Headers(names), text, json })
        } catch (error) {
          reject(error)
        }
      },
    )
    sent.on('error', reject)
    sent.end(payload)
  })
}
