const DID = /^did:[a-z0-9]+:[A-Za-z0-9._:%-]+$/
const BROKEN_PERCENT = /%(?![0-9A-Fa-f]{2})/

/** The syntax of DID Core, section 3.1: the method is in lower case, and the part after the last ":" is not empty. */
export function isDid(text: string): boolean {
  return DID.test(text) && !text.endsWith(':') && !BROKEN_PERCENT.test(text)
}

/** Encodes a DID as a reg-name: of its characters, only ":" and "%" are not allowed in a host. */
export function encodeDid(did: string): string {
  return did.replaceAll('%', '%25').replaceAll(':', '%3A')
}
