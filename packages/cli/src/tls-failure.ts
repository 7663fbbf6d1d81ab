/** What is wrong with the certificate of a server, by the code of Node or OpenSSL, and what to do. */
const FAILURES: readonly (readonly [codes: RegExp, text: string])[] = [
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN)$/,
    'the certificate is self-signed; to trust it, pass it or its CA with --ca FILE or SWITCHBOARD_CA',
  ],
  [
    /^(UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT(_LOCALLY)?|CERT_UNTRUSTED)$/,
    'the issuer of the certificate is unknown; pass its CA with --ca FILE or SWITCHBOARD_CA, or have the server send the intermediate certificates',
  ],
  [/^CERT_HAS_EXPIRED$/, 'the certificate has expired; renew it on the server, or set the clock of this computer'],
  [/^CERT_NOT_YET_VALID$/, 'the certificate is not valid yet; check the clock of this computer'],
  [/^CERT_REVOKED$/, 'the certificate was revoked; the server needs a new one'],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'the certificate is for another host name; use the name that it is for, or have one issued for this name',
  ],
  [
    /^ERR_SSL_(WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)$/,
    'the server does not speak TLS on this port; check whether the URL should start with http:',
  ],
  [
    /^ERR_SSL_(TLSV13_ALERT_CERTIFICATE_REQUIRED|SSLV3_ALERT_HANDSHAKE_FAILURE|SSLV3_ALERT_BAD_CERTIFICATE)$/,
    'the server requires a client certificate, which this command cannot send',
  ],
]

/** Causes of causes that are examined. */
const MAX_DEPTH = 8

/** Why a connection failed over TLS; undefined if it failed for another reason. */
export function tlsFailureOf(error: unknown): string | undefined {
  let current = error
  for (let depth = 0; depth < MAX_DEPTH && current instanceof Error; depth++) {
    const code = 'code' in current ? String(current.code) : ''
    const found = FAILURES.find(([codes]) => codes.test(code))
    if (found) return `${found[1]} (${code})`
    if (/^ERR_(SSL|TLS)_/.test(code)) return `${current.message.split('\n')[0]} (${code})`
    current = current.cause
  }
  return undefined
}
