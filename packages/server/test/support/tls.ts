import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
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
  const signer = ['-CA', join(folder, `${name}.pem`), '-CAkey', join(folder, `${name}.key`)]
  let issued = 0
  return {
    ...own,
    issue: (subject, ...alternatives) => make(`${name}-${++issued}`, subject, alternatives, signer),
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
}

/** Sends one HTTPS request on its own connection. */
export function sendTls(
  url: string,
  { method = 'GET', path, ca, identity, headers, body }: TlsRequest,
): Promise<TestResponse> {
  const payload = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(path, url),
      {
        method,
        ca,
        ...identity,
        agent: false,
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
