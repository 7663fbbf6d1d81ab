/** Whether a text is a URI of RFC 3986 with a scheme, and without characters that a URI cannot contain. */
export function isAbsoluteUri(value: string): boolean {
  return (
    /^[a-z][a-z0-9+.-]*:[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/i.test(value) && isUrlIfHierarchical(value)
  )
}

/** Whether a text is an absolute URI, or a path on the host of the document. "//host" would be another host. */
export function isEndpoint(value: string): boolean {
  return /^\/(?!\/)/.test(value) ? isAbsoluteUri(`https://path.invalid${value}`) : isAbsoluteUri(value)
}

function isUrlIfHierarchical(value: string): boolean {
  return !/^(https?|wss?):/i.test(value) || URL.canParse(value)
}
