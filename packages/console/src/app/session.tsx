import { asStrings, isObject, type JsonValue } from '@switchboard/protocol/json'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react'
import { BASE } from './address.js'
import { loadSession, onSessionChange, RequestError, requestJson } from './api.js'

/** Who uses the console, and how someone can sign in. */
export interface Session {
  /** Undefined if nobody is signed in. */
  readonly subject: string | undefined
  readonly scopes: readonly string[]
  /** Whether one can sign in with a key. */
  readonly acceptsKeys: boolean
  /** Providers of OpenID Connect that the operator has configured. */
  readonly providers: readonly { readonly name: string; readonly href: string }[]
}

interface SessionContext extends Session {
  /** False until the directory has said who is signed in. */
  readonly isKnown: boolean
  /** Whether the session has a scope; `any`: whether somebody is signed in. */
  readonly can: (scope: string) => boolean
  readonly signIn: (key: string) => Promise<void>
  readonly signOut: () => Promise<void>
}

const NOBODY: Session = { subject: undefined, scopes: [], acceptsKeys: false, providers: [] }
const Context = createContext<SessionContext | undefined>(undefined)

/** Asks the directory once who is signed in, and tells all components below. */
export function SessionProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [session, setSession] = useState<Session>()

  const take = useCallback(async (again: boolean): Promise<void> => {
    setSession(readSession(await loadSession(again).catch(() => undefined)))
  }, [])
  useEffect(() => {
    void take(false)
    return onSessionChange(() => void take(false))
  }, [take])

  const value = useMemo((): SessionContext => {
    const { scopes } = session ?? NOBODY
    return {
      ...(session ?? NOBODY),
      isKnown: session !== undefined,
      can: (scope) =>
        scope === 'any' ? session?.subject !== undefined : scopes.includes(scope) || scopes.includes('admin'),
      async signIn(key) {
        await requestJson('/session', { method: 'POST', body: { key } })
        await take(true)
      },
      async signOut() {
        await requestJson('/session', { method: 'DELETE' }).catch((error: unknown) => {
          if (!(error instanceof RequestError && error.status === 401)) throw error
        })
        // Loaded anew, so that nothing stays on the screen or in memory that only this person may see.
        location.assign(BASE)
      },
    }
  }, [session, take])
  return <Context value={value}>{children}</Context>
}

/** The session of the person who is signed in. Use it inside `SessionProvider` only. */
export function useSession(): SessionContext {
  const session = useContext(Context)
  if (!session) throw new Error('useSession is used outside of SessionProvider')
  return session
}

function readSession(body: JsonValue | undefined): Session {
  if (!isObject(body)) return NOBODY
  const offered = isObject(body.sign_in) && Array.isArray(body.sign_in.openid) ? body.sign_in.openid : []
  return {
    subject: typeof body.subject === 'string' ? body.subject : undefined,
    scopes: asStrings(body.scopes),
    acceptsKeys: isObject(body.sign_in) && body.sign_in.key === true,
    providers: offered.filter(isObject).map(({ name, issuer, href }) => ({
      name: String(name ?? issuer),
      href: String(href),
    })),
  }
}
