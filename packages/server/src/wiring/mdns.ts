import { hostname } from 'node:os'
import { type Advertiser, createAdvertiser } from '../services/operations/advertise.js'
import type { Base } from './base.js'

export interface Mdns {
  /** In the background: a network without multicast must not keep the directory from serving. */
  start(): void
  stop(): Promise<void>
}

/** Advertisement on the local network; undefined unless the operator has enabled it. */
export function wireMdns({ config, state, log, logError }: Base, version: string): Mdns | undefined {
  const { enabled, name = `Switchboard on ${hostname().split('.')[0]}`, interfaces } = config.mdns
  if (!enabled) return undefined
  let advertiser: Advertiser | undefined
  let started: Promise<void> | undefined
  return {
    start() {
      advertiser = createAdvertiser({
        name,
        listening: new URL(state.listening ?? ''),
        publicUrl: config.publicUrl === undefined ? undefined : new URL(config.publicUrl),
        version,
        interfaces,
        onNameChange: (other) =>
          log.info({ name: other }, 'another service on the network has the name; advertised under'),
      })
      started = advertiser
        .start()
        .then(() => log.info({ name }, 'advertised on the local network'))
        .catch(logError('could not advertise the directory on the local network'))
    },
    async stop() {
      await started
      await advertiser?.stop()
    },
  }
}
