import { List, ThemeIcon } from '@mantine/core'
import { toDisplayText } from '@switchboard/client/discovery'
import { asString, asStrings, isObject, type JsonObject, type JsonValue } from '@switchboard/protocol/json'
import type { ReactNode } from 'react'
import { strings } from '../../strings.js'
import { type AgentDetails, timeOf } from './read-agent.js'
import { formatAgo } from './time-ago.js'

const { trust } = strings

/** Something that speaks for an agent, against it, or neither. */
interface Finding {
  readonly text: string
  readonly speaks: 'for' | 'against' | 'neither'
}

/** What the directory has found out about the agent, as sentences. */
export function findingsOf(verification: JsonObject, now: number): Finding[] {
  const { state, signature, domain, certification, quality_score: quality, health, probe } = verification
  const ago = (value: JsonValue | undefined): string => {
    const at = timeOf(value)
    return at === undefined ? '' : formatAgo(at, now)
  }
  const findings: Finding[] = []
  const add = (speaks: Finding['speaks'], text: string): unknown => findings.push({ speaks, text: toDisplayText(text) })
  const known = trust.states[asString(state) ?? '']
  add(state === 'verified' ? 'for' : 'neither', known ?? asString(state) ?? trust.states['self-asserted'] ?? '')
  if (isObject(certification) && certification.verified !== false) {
    add('for', trust.certified(asString(certification.authority) ?? asString(certification.by) ?? ''))
  }
  if (typeof quality === 'number') add('neither', trust.quality(quality))
  if (isObject(signature)) {
    const state = asString(signature.state) ?? ''
    if (state === 'valid') add('for', trust.signed(asString(signature.signer) ?? asString(signature.kid) ?? ''))
    else if (state === 'invalid') add('against', trust.signatureInvalid)
    else if (state !== '') add('neither', trust.signatureUnknown(state))
  }
  if (isObject(domain) && domain.state === 'proven') add('for', trust.domain(asString(domain.name) ?? ''))
  if (isObject(health)) {
    if (health.state === 'unreachable') add('against', trust.unreachable(ago(health.since)))
    else if (health.state === 'reachable') add('for', trust.reachable(ago(health.since)))
  }
  if (isObject(probe)) {
    const at = ago(probe.checked_at ?? probe.at)
    if (probe.state === 'passed') add('for', trust.probePassed(at))
    else if (probe.state === 'failed') add('against', trust.probeFailed(at))
  }
  return findings
}

const ICONS = { for: ['✓', 'teal'], against: ['!', 'orange'], neither: ['·', 'gray'] } as const

export function Verification({ verification }: { readonly verification: JsonObject }): ReactNode {
  return <Findings findings={findingsOf(verification, Date.now())} />
}

function Findings({ findings }: { readonly findings: readonly Finding[] }): ReactNode {
  return (
    <List size="sm" spacing={6} center>
      {findings.map(({ text, speaks }) => {
        const [sign, color] = ICONS[speaks]
        return (
          <List.Item
            key={text}
            icon={
              <ThemeIcon size={20} radius="xl" variant="light" color={color} aria-hidden>
                {sign}
              </ThemeIcon>
            }
          >
            {text}
          </List.Item>
        )
      })}
    </List>
  )
}

/** Where the registration comes from: here, another directory, or a site that was crawled. */
export function Provenance({ agent: { provenance, verification } }: { readonly agent: AgentDetails }): ReactNode {
  const neither = (text: string): Finding => ({ text: toDisplayText(text), speaks: 'neither' })
  const { crawled } = verification
  if (isObject(crawled)) return <Findings findings={[neither(trust.crawled(asString(crawled.url) ?? ''))]} />
  if (!provenance) return <Findings findings={[neither(trust.ownRegistration)]} />
  const path = asStrings(provenance.path)
  const copiedAt = timeOf(provenance.received_at)
  return (
    <Findings
      findings={[
        neither(trust.federated(asString(provenance.origin_service) ?? '')),
        ...(path.length > 1 ? [neither(trust.path(path.join(' → ')))] : []),
        ...(copiedAt === undefined ? [] : [neither(trust.copied(formatAgo(copiedAt, Date.now())))]),
      ]}
    />
  )
}
