import {
  ActionIcon,
  Anchor,
  AppShell,
  Burger,
  Button,
  Container,
  Group,
  NavLink,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazy, type ReactNode, Suspense, useEffect } from 'react'
import { Link, Route, Switch, useLocation, useSearch } from 'wouter'
import { Loading } from '../parts/loading.js'
import { strings } from '../strings.js'
import { addressOf, BASE } from './address.js'
import { NotFoundPage, PAGES } from './pages.js'
import { useSession } from './session.js'

const { common, navigation } = strings

/** What surrounds every page: the name, the navigation, and the place for the page itself. */
export function Shell(): ReactNode {
  const [isOpen, { toggle, close }] = useDisclosure()
  const [path] = useLocation()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu of small screens closes when a page opens.
  useEffect(close, [path])

  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { desktop: true, mobile: !isOpen } }}
      padding="md"
    >
      <a className="skip-link" href="#content">
        {common.skipToContent}
      </a>
      <AppShell.Header px="md">
        <Container size="lg" h="100%" px={0}>
          <Group h="100%" justify="space-between" wrap="nowrap">
            <Group gap="xs" wrap="nowrap">
              <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={common.menu} />
              <Anchor component={Link} href={addressOf.search()} fw={700} c="inherit" underline="never">
                {common.directory}
              </Anchor>
            </Group>
            <Group component="nav" aria-label={navigation.label} gap={4} wrap="nowrap" visibleFrom="sm">
              <Links />
            </Group>
            <Group gap="xs" wrap="nowrap">
              <Account />
              <ColorSwitch />
            </Group>
          </Group>
        </Container>
      </AppShell.Header>
      <AppShell.Navbar p="sm" component="nav" aria-label={navigation.label}>
        <Links />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <Container size="lg" px={0}>
          <Suspense fallback={<Loading />}>
            <Switch>
              {PAGES.map(({ path, Page }) => (
                <Route key={path} path={path} component={Page} />
              ))}
              <Route component={NotFoundPage} />
            </Switch>
          </Suspense>
        </Container>
      </AppShell.Main>
    </AppShell>
  )
}

/** The pages that this person can use. */
function Links(): ReactNode {
  const session = useSession()
  const [path] = useLocation()
  return (
    <>
      {PAGES.map(({ label, address, needs }) =>
        label === undefined || address === undefined || (needs && !session.can(needs)) ? null : (
          <NavLink
            key={address}
            component={Link}
            href={address}
            label={label}
            active={address === '/' ? path === '/' : path.startsWith(address)}
            w="auto"
            noWrap
          />
        ),
      )}
      <NavLink href={`${BASE}docs`} label={navigation.documentation} w="auto" noWrap />
    </>
  )
}

/** The menu of those who are signed in is not part of the first load. */
const AccountMenu = lazy(async () => ({ default: (await import('./account-menu.js')).AccountMenu }))

/** The account menu, or a link to the sign-in page, which leads back to this page. */
function Account(): ReactNode {
  const { isKnown, subject } = useSession()
  const [path] = useLocation()
  const search = useSearch()
  if (!isKnown) return null
  if (subject !== undefined)
    return (
      <Suspense fallback={null}>
        <AccountMenu subject={subject} />
      </Suspense>
    )
  const isSigningIn = path === addressOf.signIn()
  const from = search === '' ? path : `${path}?${search}`
  return isSigningIn ? null : (
    <Button component={Link} href={addressOf.signIn(from)} variant="subtle" size="compact-sm">
      {navigation.signIn}
    </Button>
  )
}

function ColorSwitch(): ReactNode {
  const { toggleColorScheme } = useMantineColorScheme()
  return (
    <ActionIcon variant="subtle" color="gray" onClick={toggleColorScheme} aria-label={common.switchColors}>
      ◐
    </ActionIcon>
  )
}
