import { readFile } from 'node:fs/promises'
import { rootCertificates } from 'node:tls'
import { reasonOf } from './documents/read-text.js'
import { UsageError } from './usage.js'

/** Trusts the CA certificates of a file besides the usual ones, in all requests of this process. */
export async function trustCa(file: string): Promise<void> {
  let certificates: string
  try {
    certificates = await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`--ca ${file} cannot be read (${reasonOf(error)})`)
  }
  if (!certificates.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageError(`--ca ${file} has no certificates: it must be a PEM file`)
  // Loaded on demand: few commands need it.
  const { Agent, setGlobalDispatcher } = await import('undici')
  setGlobalDispatcher(new Agent({ connect: { ca: [...rootCertificates, certificates] } }))
}
