import { parseIpAddress } from './addresses.js'
import { absoluteName, escapeByte, quoteString, type ZoneRecord } from './zone-records.js'

/** The service name under which directories are found by DNS-SD (AD §3.2). */
export const DIRECTORY_SERVICE = '_ad._tcp'

/** Where the description of a directory is (AD §3.1). */
export const DIRECTORY_PATH = '/.well-known/ad'

/** What a directory says about itself in DNS-SD (RFC 6763). */
export interface AdvertisedDirectory {
  /** What people see in a list of directories, up to 63 bytes. */
  readonly name: string
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** The release of the software, for people. */
  readonly version?: string
  /** The URL that clients should use, if the host is only the name of a machine: certificates are issued for it. */
  readonly url?: string
}

/** The TXT record: where the directory describes itself, and whether it uses TLS. */
export const directoryTxt = ({
  tls,
  version,
  url,
}: Pick<AdvertisedDirectory, 'tls' | 'version' | 'url'>): Record<string, string> => ({
  // First, as RFC 6763 §6.7 requires.
  txtvers: '1',
  path: DIRECTORY_PATH,
  tls: tls ? '1' : '0',
  ...(version !== undefined && { version }),
  ...(url !== undefined && { url }),
})

const MAX_LABEL_BYTES = 63

/**
 * The records with which a directory is found by DNS-SD in a domain.
 *
 * @throws {TypeError} if a name cannot be written in DNS
 */
export function directoryRecords(directory: AdvertisedDirectory, domain: string): ZoneRecord[] {
  const { name, host, port } = directory
  if (parseIpAddress(host)) throw new TypeError(`the directory needs a host name in DNS: ${host} is an address`)
  const zone = absoluteName(domain)
  const service = `${DIRECTORY_SERVICE}.${zone}`
  const instance = `${escapeLabel(name)}.${service}`
  const strings = Object.entries(directoryTxt(directory)).map(([key, value]) => quoteString(`${key}=${value}`))
  return [
    { name: `_services._dns-sd._udp.${zone}`, type: 'PTR', data: service },
    { name: service, type: 'PTR', data: instance },
    { name: instance, type: 'SRV', data: `0 0 ${port} ${absoluteName(host)}` },
    { name: instance, type: 'TXT', data: strings.join(' ') },
  ]
}

/** A label may contain any text (RFC 6763 §4.1.1); in zone files, all but the plainest characters are escaped. */
function escapeLabel(text: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length === 0 || bytes.length > MAX_LABEL_BYTES)
    throw new TypeError(`the name "${text}" must have 1 to ${MAX_LABEL_BYTES} bytes`)
  return Array.from(bytes, escapeCharacter).join('')
}

const escapeCharacter = (byte: number): string => {
  const character = String.fromCharCode(byte)
  return /[\w-]/.test(character) ? character : escapeByte(byte)
}
