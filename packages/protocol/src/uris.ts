/** RFC 3986 with a scheme, and no characters that a URI cannot have. */
export function isAbsoluteUri(value: string): boolean {
  return (
    /^[a-z][a-z0-9+.-]*:[\x21\x23-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/i.test(value) && isUrlIfHierarchical(value)
  )
}

/** An absolute URI, or a path on the host that serves the document; "//host" would name another host. */
export function isEndpoint(value: string): boolean {
  return /^\/(?!\/)/.test(value) ? isAbsoluteUri(`https://path.invalid${value}`) : isAbsoluteUri(value)
}

function isUrlIfHierarchical(value: string): boolean {
  return !/^(https?|wss?):/i.test(value) || URL.canParse(value)
}
