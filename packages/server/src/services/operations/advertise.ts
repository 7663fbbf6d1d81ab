import { DIRECTORY_SERVICE, directoryTxt, isLoopbackHost } from '@switchboard/protocol'

/** Advertises the directory on the local network by multicast DNS (AD §3.2). */
export interface Advertiser {
  /** Resolves once the name is known to be unique and has been announced. */
  start(): Promise<void>
  /** Says goodbye, so that clients forget the directory at once. */
  stop(): Promise<void>
}

export interface AdvertiserOptions {
  /** What people see in a list; a number is added if another one on the network has it. */
  readonly name: string
  /** Where the directory listens. */
  readonly listening: URL
  /** Its URL for clients, if that is another one. */
  readonly publicUrl: URL | undefined
  readonly version: string
  /** Names of network interfaces; default: all. */
  readonly interfaces: readonly string[]
  readonly onNameChange: (name: string) => void
}

/** The type without its underscores, as the library wants it. */
const [TYPE = ''] = /[a-z]+/.exec(DIRECTORY_SERVICE) ?? []

export function createAdvertiser(options: AdvertiserOptions): Advertiser {
  const { name, listening, publicUrl, version, interfaces, onNameChange } = options
  let shutDown: (() => Promise<void>) | undefined
  return {
    async start() {
      // Loaded only if it is used.
      const { getResponder } = await import('@homebridge/ciao')
      const responder = getResponder(interfaces.length > 0 ? { interface: [...interfaces] } : {})
      shutDown = () => responder.shutdown()
      const url = publicUrl ?? listening
      const service = responder.createService({
        name,
        type: TYPE,
        port: portOf(url),
        txt: directoryTxt({
          tls: url.protocol === 'https:',
          version,
          ...(publicUrl && { url: publicUrl.href.replace(/\/$/, '') }),
        }),
        ...addressesOf(listening),
      })
      service.on('name-change', onNameChange)
      await service.advertise()
    },
    stop: async () => shutDown?.(),
  }
}

const portOf = ({ port, protocol }: URL): number => (port !== '' ? Number(port) : protocol === 'https:' ? 443 : 80)

/** Only the addresses at which the directory listens. */
function addressesOf({ hostname }: URL): { restrictedAddresses?: string[]; disabledIpv6?: boolean } {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (host === '::') return {}
  if (host === '0.0.0.0') return { disabledIpv6: true }
  return { restrictedAddresses: [isLoopbackHost(host) ? '127.0.0.1' : host] }
}
