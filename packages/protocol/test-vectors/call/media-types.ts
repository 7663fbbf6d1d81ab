/** What is offered to every Accept header of the vectors: the media types of a descriptor. */
export const OFFERED_TYPES = ['application/json', 'application/agent-card+json', 'application/ld+json']

/** Accept headers, and what is chosen; undefined: 406. */
export const ACCEPT_VECTORS: readonly (readonly [accept: string | undefined, chosen: string | undefined])[] = [
  [undefined, 'application/json'],
  ['*/*', 'application/json'],
  ['application/*', 'application/json'],
  ['application/json', 'application/json'],
  ['APPLICATION/LD+JSON', 'application/ld+json'],
  ['application/ld+json, application/agent-card+json', 'application/ld+json'],
  ['application/ld+json;q=0.5, application/agent-card+json;q=0.9', 'application/agent-card+json'],
  ['application/ld+json; q=0.5 , application/json ; q=0.4', 'application/ld+json'],
  ['application/json;q=0, */*', 'application/agent-card+json'],
  ['application/json;q=0, application/*;q=0.1', 'application/agent-card+json'],
  ['text/html, application/xhtml+xml, */*;q=0.8', 'application/json'],
  ['application/json; charset=utf-8', 'application/json'],
  ['application/ld+json;profile="http://www.w3.org/ns/json-ld#compacted, x";q=0.9', 'application/ld+json'],
  ['image/png', undefined],
  ['text/*', undefined],
  ['*/*;q=0', undefined],
  ['json', undefined],
  [`${'a/b,'.repeat(60)}application/json`, undefined],
]

/** Content-Type headers, and whether a body of that type is JSON. */
export const JSON_TYPE_VECTORS: readonly (readonly [contentType: string, isJson: boolean])[] = [
  ['application/json', true],
  ['application/json; charset=utf-8', true],
  ['application/json;charset="utf-8"', true],
  ['Application/JSON ; x=y', true],
  ['application/ld+json', true],
  ['application/vnd.api.v2+json', true],
  ['application/problem+json; charset=utf-8', true],
  ['model/gltf+json', true],
  ['text/json', false],
  ['text/plain', false],
  ['application/+json', false],
  ['text/plain; application/json', false],
  ['application/jsonp', false],
  ['application/x-json-stream', false],
  ['application/x-www-form-urlencoded', false],
  ['application/octet-stream', false],
]
