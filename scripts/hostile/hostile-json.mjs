// JSON that is small to send but expensive to handle. Made once, because the client has to stay fast too.
const repeat = (count, make) => Array.from({ length: count }, (_, i) => make(i))
const MIB = 1 << 20

/** Nested arrays of the given depth. */
const deep = (depth) => '['.repeat(depth) + ']'.repeat(depth)
/** As many empty arrays as fit into the size: little text, much memory. */
const hollow = (bytes) => `[${'[],'.repeat(bytes / 3 - 1)}[]]`
const wide = (members) => `{${repeat(members, (i) => `"m${i}":${i}`).join(',')}}`

/** Values by name; each is JSON text. */
export const HOSTILE_VALUES = {
  'deep arrays': deep(5000),
  'very deep arrays': deep(100_000),
  'deep objects': `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`,
  'empty arrays, 250 KB': hollow(250_000),
  'empty arrays, 4 MB': hollow(4 * MIB),
  '10,000 members': wide(10_000),
  '200,000 members': wide(200_000),
  'the same member 20,000 times': `{${repeat(20_000, () => '"a":1').join(',')}}`,
  'a text of 200 KB': JSON.stringify('lorem '.repeat(33_000)),
  'a text of 4 MB': JSON.stringify('x'.repeat(4 * MIB)),
  'a word of 200 KB': JSON.stringify('w'.repeat(200_000)),
  'combining characters': JSON.stringify('é̂̃'.repeat(20_000)),
  'escaped characters': `"${'\\u0041'.repeat(30_000)}"`,
  'a huge number': `1${'0'.repeat(50_000)}`,
  'numbers out of range': '[1e400, -1e400, 123456789012345678901234567890]',
  'names of prototypes': '{"__proto__":{"admin":true},"constructor":{"prototype":{}},"toString":1}',
  '20,000 words': JSON.stringify(repeat(20_000, (i) => `word${i}`)),
  'the same word 25,000 times': JSON.stringify(repeat(25_000, () => '1.0.0')),
  '25,000 values, 50 different ones': JSON.stringify(repeat(25_000, (i) => `v${i % 50}`)),
  '5,000 objects': JSON.stringify(repeat(5000, (i) => ({ name: `n${i}`, type: 'x' }))),
  'not JSON': '{"a":',
  'not UTF-8': Buffer.from([0x22, 0xff, 0xfe, 0x22]),
  null: 'null',
}

/** Larger values are sent less often: most of them are rejected by their size alone. */
const LARGE_BYTES = 1_000_000
const NAMES = Object.keys(HOSTILE_VALUES)
const SMALL = NAMES.filter((name) => HOSTILE_VALUES[name].length < LARGE_BYTES)

/** The name of one of the values. */
export const pickValue = (random) => random.pick(random.chance(0.05) ? NAMES : SMALL)

/** A JSON object whose member has a value that is given as text. */
export function withMember(object, member, value) {
  const text = JSON.stringify(object)
  const head = text === '{}' ? '{' : `${text.slice(0, -1)},`
  return Buffer.concat([Buffer.from(`${head}${JSON.stringify(member)}:`), Buffer.from(value), Buffer.from('}')])
}
