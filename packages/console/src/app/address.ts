/** The path of the directory, which ends with a slash; `/` unless it is served below a path of a proxy. */
export const BASE = document.querySelector<HTMLMetaElement>('meta[name="switchboard-base"]')?.content ?? '/'

/** The path below which wouter finds the addresses of the console. */
export const CONSOLE_BASE = BASE.replace(/\/$/, '')

/** The nonce of this page's Content-Security-Policy, for the styles that Mantine writes into it. */
export const NONCE = document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''

/** Addresses of the console's pages, to link to. */
export const addressOf = {
  search: (query?: string) => (query ? `/?${new URLSearchParams({ q: query })}` : '/'),
  /** `searchId`: the search that found the agent, which a call made on its page reports. */
  agent: (id: string, searchId?: string) =>
    `/console/agents/${encodeURIComponent(id)}${searchId ? `?${new URLSearchParams({ search: searchId })}` : ''}`,
  publish: () => '/console/publish',
  mine: () => '/console/mine',
  operate: (page = '') => `/console/operate${page && `/${page}`}`,
  signIn: (from?: string) => `/console/sign-in${from ? `?${new URLSearchParams({ from })}` : ''}`,
}
