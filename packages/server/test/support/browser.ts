import type { RequestOptions, TestDirectory, TestResponse } from './directory.js'

/** A browser with a page of the directory: it keeps cookies, and sends what browsers add to the requests of such a page. */
export interface TestBrowser {
  /** The value of the Cookie header. */
  readonly cookie: string
  readonly csrf: string
  /** Takes the cookies of a response. */
  take(response: TestResponse): void
  /** The headers of a request that reads. */
  reading(more?: Record<string, string>): RequestOptions
  /** The headers of a request that changes something. */
  writing(more?: Record<string, string>): RequestOptions
  signIn(key: string): Promise<TestResponse>
}

export function openBrowser(directory: TestDirectory): TestBrowser {
  const jar = new Map<string, string>()
  let csrf = ''
  const browser: TestBrowser = {
    get cookie() {
      return [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    },
    get csrf() {
      return csrf
    },
    take({ headers, json }) {
      for (const line of headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        if (/Max-Age=0\b/.test(line)) jar.delete(name)
        else jar.set(name, value)
      }
      csrf = json?.csrf ?? csrf
    },
    reading: (more = {}) => ({ headers: { cookie: browser.cookie, 'sec-fetch-site': 'same-origin', ...more } }),
    writing: (more = {}) => ({
      headers: { cookie: browser.cookie, origin: directory.url, 'x-csrf-token': csrf, ...more },
    }),
    async signIn(key) {
      const response = await directory.post('/session', { ...browser.writing(), body: { key } })
      browser.take(response)
      return response
    },
  }
  return browser
}
