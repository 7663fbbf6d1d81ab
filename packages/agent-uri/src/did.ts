const DID = /^did:[a-z0-9]+:[A-Za-z0-9._:%-]+$/
const BROKEN_PERCENT = /%(?![0-9A-Fa-f]{2})/

/** The syntax of DID Core, section 3.1: lower-case method, and the last part after a ":" is not empty. */
export function isDid(text: string): boolean {
  return DID.test(text) && !text.endsWith(':') && !BROKEN_PERCENT.test(text)
}

/** Makes a DID a legal reg-name; ":" and "%" are its only characters that a host cannot hold as they are. */
export function encodeDid(did: string): string {
  return did.replaceAll('%', '%25').replaceAll(':', '%3A')
}
