import type { AdminClient, CrawlClient, DirectoryClient, DiscoveryClient } from '@switchboard/client'
import { type DirectorySettings, readAdminSettings, readDirectorySettings } from './settings.js'

interface ConnectionFlags {
  readonly url?: string | undefined
  readonly token?: string | undefined
}

// The client is loaded on demand: help does not need it, and most commands need a part of it only.

/** A client for the directory that flags and environment name. */
export async function openDirectory(flags: ConnectionFlags): Promise<DirectoryClient> {
  const connection = toConnection(readDirectorySettings(flags))
  const { createClient } = await import('@switchboard/client')
  return createClient(connection)
}

/** The same to find and read agents only. */
export async function openDiscovery(flags: ConnectionFlags): Promise<DiscoveryClient> {
  const connection = toConnection(readDirectorySettings(flags))
  const { createDiscoveryClient } = await import('@switchboard/client/discovery')
  return createDiscoveryClient(connection)
}

/** A client for the sites that it crawls. */
export async function openCrawl(flags: ConnectionFlags): Promise<CrawlClient> {
  const connection = toConnection(readDirectorySettings(flags))
  const { createCrawlClient } = await import('@switchboard/client')
  return createCrawlClient(connection)
}

/** A client for the administration of that directory. */
export async function openAdmin(flags: ConnectionFlags): Promise<AdminClient> {
  const connection = toConnection(readAdminSettings(flags))
  const { createAdminClient } = await import('@switchboard/client/admin')
  return createAdminClient(connection)
}

const toConnection = ({ url, token }: DirectorySettings): { baseUrl: string; token?: string } => ({
  baseUrl: url,
  ...(token !== undefined && { token }),
})
