import {
  type AdminClient,
  type CrawlClient,
  createAdminClient,
  createClient,
  createCrawlClient,
  type DirectoryClient,
} from '@switchboard/client'
import { readDirectorySettings } from './settings.js'

interface ConnectionFlags {
  readonly url?: string | undefined
  readonly token?: string | undefined
}

/** A client for the directory that flags and environment name. */
export const openDirectory = (flags: ConnectionFlags): DirectoryClient => createClient(readConnection(flags))

/** A client for the sites that it crawls. */
export const openCrawl = (flags: ConnectionFlags): CrawlClient => createCrawlClient(readConnection(flags))

/** A client for the administration of that directory. */
export const openAdmin = (flags: ConnectionFlags): AdminClient => createAdminClient(readConnection(flags))

function readConnection(flags: ConnectionFlags): { baseUrl: string; token?: string } {
  const { url, token } = readDirectorySettings(flags)
  return { baseUrl: url, ...(token !== undefined && { token }) }
}
