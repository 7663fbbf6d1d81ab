import type { JsonValue } from '@switchboard/protocol'
import type { TestDirectory } from '../support/directory.js'

/** A streamed response, read as it arrives. */
export interface Streamed {
  readonly status: number
  readonly headers: Headers
  /** The text up to and including the next mark, or up to the end. */
  next(mark: string): Promise<string>
  /** The rest of the stream. */
  rest(): Promise<string>
  cancel(): Promise<void>
}

/** Calls an agent as the administrator; the test reads the response. */
export async function stream(
  directory: TestDirectory,
  body: JsonValue,
  { accept, path = '/agents/x/invoke' }: { accept?: string; path?: string } = {},
): Promise<Streamed> {
  const response = await fetch(directory.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${directory.adminKey}`,
      'content-type': 'application/json',
      ...(accept !== undefined && { accept }),
    },
    body: JSON.stringify(body),
  })
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  const read = async (): Promise<boolean> => {
    const chunk = await reader?.read()
    text += decoder.decode(chunk?.value, { stream: true })
    return chunk?.done === false
  }
  return {
    status: response.status,
    headers: response.headers,
    async next(mark) {
      while (!text.includes(mark) && (await read()));
      const end = text.includes(mark) ? text.indexOf(mark) + mark.length : text.length
      const piece = text.slice(0, end)
      text = text.slice(end)
      return piece
    },
    async rest() {
      while (await read());
      return text
    },
    cancel: async () => reader?.cancel(),
  }
}
