import { DIRECTORY_PATH } from '@switchboard/protocol'

/** A directory as DNS-SD describes it. Nothing of it has been verified. */
export interface Advertisement {
  readonly name: string
  readonly url: string
  /** Where the directory describes itself. */
  readonly path: string
  readonly version?: string
  /** Addresses of the host, if multicast DNS said them: `.local` names are not known to every resolver. */
  readonly addresses: readonly string[]
}

/** What the records of one directory say. */
export interface ServiceInstance {
  readonly name: string
  readonly host: string
  readonly port: number
  /** `key=value`, as in the TXT record. */
  readonly txt: readonly string[]
  readonly addresses?: readonly string[]
}

/** Reads the records of one directory; undefined if they name no usable URL. */
export function toAdvertisement({ name, host, port, txt, addresses = [] }: ServiceInstance): Advertisement | undefined {
  const values = new Map<string, string>()
  // The first of several counts, and keys are case-insensitive (RFC 6763 §6.4).
  for (const text of txt) {
    const [key = ''] = text.split('=', 1)
    if (!values.has(key.toLowerCase())) values.set(key.toLowerCase(), text.slice(key.length + 1))
  }
  const own = values.get('url')
  const isPlain = values.get('tls') === '0'
  // Without TLS the name proves nothing, and an address works without a resolver for `.local`.
  const authority =
    (isPlain ? addresses.find((address) => !address.includes(':')) : undefined) ?? host.replace(/\.$/, '')
  const url = toBase(own ?? `${isPlain ? 'http' : 'https'}://${authority}:${port}`)
  const path = values.get('path') ?? DIRECTORY_PATH
  const version = values.get('version')
  if (url === undefined || !path.startsWith('/')) return undefined
  return { name, url, path, addresses: own === undefined ? addresses : [], ...(version !== undefined && { version }) }
}

function toBase(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined
  return url.origin + url.pathname.replace(/\/+$/, '')
}
