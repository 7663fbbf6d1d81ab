import { Anchor, Group, NavLink, Stack, Text, Title } from '@mantine/core'
import { type ComponentType, type ReactNode, Suspense } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { addressOf } from '../../app/address.js'
import { lazyPage } from '../../app/lazy-page.js'
import { useSession } from '../../app/session.js'
import { Loading } from '../../parts/loading.js'
import { strings } from '../../strings.js'
import { NotFoundPage } from '../not-found.js'

const { operate } = strings

const SECTIONS: readonly { readonly name: keyof typeof operate.sections; readonly Page: ComponentType }[] = [
  { name: 'overview', Page: lazyPage(async () => (await import('./overview/overview-section.js')).OverviewSection) },
  { name: 'keys', Page: lazyPage(async () => (await import('./keys-section.js')).KeysSection) },
  { name: 'grants', Page: lazyPage(async () => (await import('./grants-section.js')).GrantsSection) },
  { name: 'audit', Page: lazyPage(async () => (await import('./audit/audit-section.js')).AuditSection) },
  { name: 'health', Page: lazyPage(async () => (await import('./health-section.js')).HealthSection) },
  { name: 'peers', Page: lazyPage(async () => (await import('./peers-section.js')).PeersSection) },
  { name: 'quarantine', Page: lazyPage(async () => (await import('./quarantine-section.js')).QuarantineSection) },
  { name: 'limits', Page: lazyPage(async () => (await import('./limits-section.js')).LimitsSection) },
  { name: 'settings', Page: lazyPage(async () => (await import('./settings-section.js')).SettingsSection) },
]

/** For operators. What it shows comes from `/admin`, which checks the scope of every request itself. */
export function OperatePage(): ReactNode {
  const { isKnown, can } = useSession()
  const [path] = useLocation()
  if (!isKnown) return <Loading />
  if (!can('admin'))
    return (
      <Stack gap="xs">
        <Title order={1}>{operate.title}</Title>
        <Text>{operate.onlyAdmins}</Text>
        <Anchor component={Link} href={addressOf.signIn(path)}>
          {strings.navigation.signIn}
        </Anchor>
      </Stack>
    )
  const pathOf = (name: string): string => addressOf.operate(name === 'overview' ? '' : name)
  return (
    <Stack>
      <Title order={1}>{operate.title}</Title>
      <Group component="nav" aria-label={operate.navigation} gap={4}>
        {SECTIONS.map(({ name }) => {
          const isActive = path === pathOf(name)
          return (
            <NavLink
              key={name}
              component={Link}
              href={pathOf(name)}
              label={operate.sections[name]}
              active={isActive}
              aria-current={isActive ? 'page' : undefined}
              w="auto"
            />
          )
        })}
      </Group>
      <Suspense fallback={<Loading />}>
        <Switch>
          {SECTIONS.map(({ name, Page }) => (
            <Route key={name} path={pathOf(name)} component={Page} />
          ))}
          <Route component={NotFoundPage} />
        </Switch>
      </Suspense>
    </Stack>
  )
}
