/**
 * Collects a body of at most `maxBytes` bytes. A longer one is not read to its end.
 *
 * @param tooLarge the error that a longer body is rejected with
 */
export async function readBytes(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Uint8Array> {
  const read: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLarge()
    read.push(chunk)
  }
  const [first = new Uint8Array()] = read
  return read.length <= 1 ? first : concat(read, size)
}

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}
