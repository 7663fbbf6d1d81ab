import type { ComponentType } from 'react'
import { NotFoundPage } from '../pages/not-found.js'
import { SearchPage } from '../pages/search/search-page.js'
import { strings } from '../strings.js'
import { addressOf } from './address.js'
import { lazyPage } from './lazy-page.js'

/** A page of the console; it is in the navigation if it has a label. */
export interface ConsolePage {
  /** A pattern of wouter. */
  readonly path: string
  readonly Page: ComponentType
  readonly label?: string
  readonly address?: string
  /** The scope without which the page is not offered; `any`: somebody must be signed in. The directory checks every request. */
  readonly needs?: string
}

export { NotFoundPage }

/** All pages. The search is part of the first load; `lazyPage` loads the others when they are opened. */
export const PAGES: readonly ConsolePage[] = [
  { path: '/', Page: SearchPage, label: strings.navigation.search, address: addressOf.search() },
  {
    path: '/console/agents/:id',
    Page: lazyPage(async () => (await import('../pages/agent/agent-page.js')).AgentPage),
  },
  {
    path: '/console/publish',
    Page: lazyPage(async () => (await import('../pages/publish/publish-page.js')).PublishPage),
    label: strings.navigation.publish,
    address: addressOf.publish(),
  },
  {
    path: '/console/mine',
    Page: lazyPage(async () => (await import('../pages/mine/mine-page.js')).MinePage),
    label: strings.navigation.mine,
    address: addressOf.mine(),
    needs: 'any',
  },
  {
    path: '/console/operate/*?',
    Page: lazyPage(async () => (await import('../pages/operate/operate-page.js')).OperatePage),
    label: strings.navigation.operate,
    address: addressOf.operate(),
    needs: 'admin',
  },
  {
    path: addressOf.signIn(),
    Page: lazyPage(async () => (await import('../pages/sign-in/sign-in-page.js')).SignInPage),
  },
]
