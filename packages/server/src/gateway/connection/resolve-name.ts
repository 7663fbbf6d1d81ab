import { lookup, Resolver } from 'node:dns/promises'

/** All addresses of a name; rejects or gives none if there are none. */
export type ResolveName = (name: string, options: { readonly isTrusted: boolean }) => Promise<readonly string[]>

/** Milliseconds for one question to a name server, and how often it is asked. */
const QUESTION_MS = 1500
const QUESTIONS = 2

/**
 * Asks name servers directly, with a limit of its own: the system's lookup holds one of a few threads that files need
 * too, and a publisher's name server may be as slow as it likes. Names that the operator allowed go by the system, since
 * they may stand in its hosts file only.
 *
 * @param servers `address:port` of name servers; those of the system by default
 */
export function createResolveName(servers?: readonly string[]): ResolveName {
  const resolver = new Resolver({ timeout: QUESTION_MS, tries: QUESTIONS })
  if (servers) resolver.setServers(servers)
  return async (name, { isTrusted }) => {
    if (isTrusted) return (await lookup(name, { all: true })).map(({ address }) => address)
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  }
}
