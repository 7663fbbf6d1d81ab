import { DIRECTORY_SERVICE } from '@switchboard/protocol'
import type { Advertisement } from './advertised.js'
import { type AskDnsOptions, askDns } from './ask-dns.node.js'
import { createServiceRecords } from './service-records.js'

/** First the names of the directories, then where each of them is. */
const ROUNDS = 2

/**
 * The directories that a domain advertises with ordinary DNS records (RFC 6763). Node's own resolver does not accept the
 * names of services, which may contain spaces.
 */
export async function browseDns(domain: string, options: AskDnsOptions): Promise<Advertisement[]> {
  const records = createServiceRecords(`${DIRECTORY_SERVICE}.${domain.replace(/\.$/, '')}`)
  for (let round = 0; round < ROUNDS; round++) {
    const questions = records.questions().filter(({ type }) => type !== 'A' && (type === 'PTR') === (round === 0))
    for (const packet of await Promise.all(questions.map((question) => askDns(question, options)))) records.add(packet)
  }
  return records.directories()
}
