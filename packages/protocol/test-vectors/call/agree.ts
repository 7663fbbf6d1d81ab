export interface AgreeVector {
  readonly title: string
  readonly header?: string
  readonly query?: string
  readonly body?: string
  /** The agreed value; undefined: none was sent. */
  readonly value?: string
  /** The request is rejected, and the message says this about the identifier. */
  readonly refusal?: string
}

const LONGEST = 'x'.repeat(256)
const BAD = 'must be 1 to 256 visible ASCII characters'

/** Session and task identifiers, which may be sent in several places (C-63). */
export const AGREE_VECTORS: readonly AgreeVector[] = [
  { title: 'none' },
  { title: 'a header', header: 's1', value: 's1' },
  { title: 'a query parameter', query: 's1', value: 's1' },
  { title: 'a member of the body', body: 's1', value: 's1' },
  { title: 'the same value in every place', header: 's1', query: 's1', body: 's1', value: 's1' },
  { title: 'punctuation', header: 'a/b+c=d@e:f~"!', query: 'a/b+c=d@e:f~"!', value: 'a/b+c=d@e:f~"!' },
  { title: 'the longest value', header: LONGEST, value: LONGEST },
  {
    title: 'header and query differ',
    header: 's1',
    query: 's2',
    refusal: 'has two different values, "s1" and "s2": send only one',
  },
  {
    title: 'query and body differ',
    query: 's1',
    body: 's2',
    refusal: 'has two different values, "s1" and "s2": send only one',
  },
  { title: 'values that differ in case', header: 's', query: 'S', refusal: 'has two different values, "s" and "S"' },
  { title: 'a space', query: 'a b', refusal: BAD },
  { title: 'a control character', query: 'a\nb', refusal: BAD },
  { title: 'a non-ASCII letter', query: 'é', refusal: BAD },
  { title: 'an empty query parameter', query: '', refusal: BAD },
  { title: 'an empty member', body: '', refusal: BAD },
  { title: 'a value that is too long', query: 'x'.repeat(257), refusal: BAD },
]

export interface AgreeOnVersionVector {
  readonly header?: string
  readonly query?: string
  /** The agreed version; undefined: the two contradict each other. */
  readonly version: string | undefined
}

/** Versions and ranges requested in two places. */
export const AGREE_ON_VERSION_VECTORS: readonly AgreeOnVersionVector[] = [
  { header: '2.1.0', version: '2.1.0' },
  { header: '2.1.0', query: '2.1.0', version: '2.1.0' },
  { header: '2.1', query: '2.1.0', version: '2.1' },
  { header: '^2.0.0', query: '2.1.0', version: '2.1.0' },
  { header: '2.1.0', query: '^2.0.0', version: '2.1.0' },
  { header: '^2.0.0', query: '^2.0.0', version: '^2.0.0' },
  { header: '2.1.0', query: '2.1.1', version: undefined },
  { header: '2.1.0', query: '^1.0.0', version: undefined },
  { header: '^2.0.0', query: '^1.0.0', version: undefined },
]
