import { Alert, Anchor, Button, Group, NativeSelect, PasswordInput, SegmentedControl, Stack, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { type Credential, toDisplayText } from '@switchboard/client'
import type { Operation } from '@switchboard/protocol/documents'
import type { JsonValue } from '@switchboard/protocol/json'
import { type FormEvent, type ReactNode, useCallback, useMemo, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { addressOf } from '../../../app/address.js'
import { CONNECTION } from '../../../app/api.js'
import { useSession } from '../../../app/session.js'
import { strings } from '../../../strings.js'
import type { AgentDetails } from '../read-agent.js'
import { toFormSchema } from '../schema/field.js'
import { initialValue } from '../schema/initial-value.js'
import type { CallMode } from './call-code.js'
import { CallCode } from './call-code-panel.js'
import { ExchangeDrawer } from './exchange-drawer.js'
import { InputEditor } from './input-editor.js'
import { checkInput, fieldId, type InputIssue, issuesOfError } from './issues.js'
import { Outcome } from './outcome.js'
import { useCall } from './use-call.js'

const { tryIt: words } = strings
const MODES = ['wait', 'stream', 'later', 'batch'] as const
const NO_ISSUES: readonly InputIssue[] = []

interface TryItProps {
  readonly agent: AgentDetails
  /** The operation to try; default: the first one. */
  readonly name: string | undefined
  readonly onChoose: (operation: string) => void
  /** The search that found the agent. */
  readonly searchId: string | undefined
}

/** Calls an operation with an input from a form, and shows what comes of it. */
export function TryIt({ agent, name, onChoose, searchId }: TryItProps): ReactNode {
  const { operations } = agent
  const operation = operations.find((each) => each.name === name) ?? operations[0]
  return (
    <Stack>
      <MayCall />
      {operations.length > 1 && (
        <NativeSelect
          label={words.operation}
          value={operation?.name ?? ''}
          onChange={({ currentTarget }) => onChoose(currentTarget.value)}
          data={operations.map((each) => ({ value: each.name, label: toDisplayText(each.name) }))}
        />
      )}
      {operation && <TryOperation key={operation.name} agent={agent} operation={operation} searchId={searchId} />}
    </Stack>
  )
}

/** Says so if this person cannot call agents. */
function MayCall(): ReactNode {
  const { subject, isKnown, can } = useSession()
  const [path] = useLocation()
  const [params] = useSearchParams()
  if (!isKnown || can('invoke')) return null
  if (subject !== undefined) {
    return (
      <Alert color="orange" title={words.noScope} role="note">
        {words.noScopeText}
      </Alert>
    )
  }
  return (
    <Alert title={words.signIn} role="note">
      <Text size="sm">{words.signInText}</Text>
      <Anchor component={Link} href={addressOf.signIn(`${path}?${params}`)} size="sm">
        {words.signInLink}
      </Anchor>
    </Alert>
  )
}

interface TryOperationProps extends Pick<TryItProps, 'agent' | 'searchId'> {
  readonly operation: Operation
}

function TryOperation({ agent, operation, searchId }: TryOperationProps): ReactNode {
  const { record, operations } = agent
  const { can } = useSession()
  const schema = useMemo(() => toFormSchema(operation.inputs), [operation])
  const [inputs, setInputs] = useState<readonly (JsonValue | undefined)[]>(() => [initialValue(schema, schema)])
  const [mode, setMode] = useState<CallMode>('wait')
  const [editor, setEditor] = useState<'form' | 'json'>('form')
  const [isChecked, setIsChecked] = useState(false)
  const [secret, setSecret] = useState('')
  const [broken, setBroken] = useState<ReadonlySet<string>>(new Set())
  // A form that shows another value altogether starts anew, so that its choices fit.
  const [revision, setRevision] = useState(0)
  const [isOpen, drawer] = useDisclosure()
  const call = useCall()

  const onBroken = useCallback((id: string, isBroken: boolean) => {
    setBroken((old) => {
      const rest = [...old].filter((known) => known !== id)
      return new Set(isBroken ? [...rest, id] : rest)
    })
  }, [])
  const shown = mode === 'batch' ? inputs : inputs.slice(0, 1)
  const found = useMemo(
    () => shown.map((input) => (isChecked ? checkInput(schema, input) : NO_ISSUES)),
    [shown, isChecked, schema],
  )
  const { phase, error } = call.state
  const refused = useMemo(() => (phase === 'failed' ? issuesOfError(error) : NO_ISSUES), [phase, error])
  const agentAuthentication = authenticationOf(record.authentication?.type)
  const isRunning = phase === 'running'
  const body = mode === 'batch' ? shown.map((input) => input ?? {}) : (shown[0] ?? {})
  const named = operations.length > 1 || operation.name !== 'invoke' ? operation.name : undefined
  const common = { agent: record.id, operation: named, input: body, mode, searchId }

  const submit = (event: FormEvent): void => {
    event.preventDefault()
    setIsChecked(true)
    const wrong = shown.flatMap((input, at) => checkInput(schema, input).map((issue) => `${at}${issue.at}`))
    const [first] = [...wrong.map(fieldId), ...broken]
    if (first === undefined) call.start({ ...common, credentials: credentialOf(agentAuthentication, secret) })
    else focusField(first)
  }
  const change = (at: number, value: JsonValue | undefined): void => setInputs((old) => old.with(at, value))
  const replaceAll = (next: readonly (JsonValue | undefined)[]): void => {
    setInputs(next)
    setBroken(new Set())
    setRevision((count) => count + 1)
  }

  return (
    <Stack gap="lg">
      <form onSubmit={submit} noValidate>
        <Stack>
          {operation.description && <Text size="sm">{toDisplayText(operation.description)}</Text>}
          <Group justify="space-between" align="flex-start">
            <Stack gap={4}>
              <SegmentedControl
                aria-label={words.mode}
                value={mode}
                onChange={setMode}
                data={MODES.filter((each) => each !== 'batch' || schema.type !== 'array').map((value) => ({
                  value,
                  label: words.modes[value],
                }))}
                size="xs"
              />
              <Text size="xs" c="dimmed">
                {words.modeTexts[mode]}
              </Text>
            </Stack>
            <Group gap="xs">
              {operation.examples?.slice(0, 3).map((example, index) =>
                example.input === undefined ? null : (
                  <Button
                    key={JSON.stringify(example)}
                    variant="subtle"
                    size="xs"
                    onClick={() => replaceAll([example.input])}
                  >
                    {words.fillIn(index + 1)}
                  </Button>
                ),
              )}
              <SegmentedControl
                aria-label={words.editor}
                value={editor}
                onChange={(next) => {
                  setEditor(next)
                  setBroken(new Set())
                }}
                data={[
                  { value: 'form', label: words.form },
                  { value: 'json', label: words.json },
                ]}
                size="xs"
              />
            </Group>
          </Group>
          {shown.map((input, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: inputs of a batch are known by their position.
            <Stack key={`${revision} ${at}`} gap="xs">
              {mode === 'batch' && (
                <Group justify="space-between">
                  <Text fw={600} size="sm">
                    {words.inputNumber(at + 1)}
                  </Text>
                  {shown.length > 1 && (
                    <Button variant="subtle" color="gray" size="xs" onClick={() => replaceAll(inputs.toSpliced(at, 1))}>
                      {words.removeInput(at + 1)}
                    </Button>
                  )}
                </Group>
              )}
              <InputEditor
                schema={schema}
                editor={editor}
                value={input}
                onChange={(next) => change(at, next)}
                issues={(found[at]?.length ?? 0) > 0 || at > 0 ? (found[at] ?? NO_ISSUES) : refused}
                prefix={String(at)}
                label={mode === 'batch' ? words.inputNumber(at + 1) : words.input}
                onBroken={onBroken}
              />
            </Stack>
          ))}
          {mode === 'batch' && (
            <Group>
              <Button variant="default" size="xs" onClick={() => setInputs([...inputs, initialValue(schema, schema)])}>
                {words.addInput}
              </Button>
            </Group>
          )}
          {agentAuthentication && (
            <PasswordInput
              label={agentAuthentication === 'api_key' ? words.agentKey : words.agentToken}
              description={words.agentSecretText}
              autoComplete="off"
              value={secret}
              onChange={({ currentTarget }) => setSecret(currentTarget.value)}
            />
          )}
          <Problems issues={found.flat()} />
          <Group>
            <Button type="submit" disabled={isRunning || !can('invoke')}>
              {words.call}
            </Button>
            {isRunning && (
              <Button variant="default" onClick={call.stop}>
                {call.state.task === undefined ? words.stop : words.cancel}
              </Button>
            )}
            <Button variant="subtle" onClick={drawer.open}>
              {words.exchange}
            </Button>
          </Group>
        </Stack>
      </form>
      <Outcome state={call.state} />
      <CallCode recipe={{ ...common, baseUrl: CONNECTION.baseUrl, agentCredential: agentAuthentication }} />
      <ExchangeDrawer exchanges={call.exchanges} isOpen={isOpen} onClose={drawer.close} />
    </Stack>
  )
}

/** Counts what is wrong, and repeats what belongs to no single field. */
function Problems({ issues }: { readonly issues: readonly InputIssue[] }): ReactNode {
  if (issues.length === 0) return null
  return (
    <Alert color="red" title={words.invalid(issues.length)} role="alert">
      {issues.map(({ at, message }) => (
        <Text key={at + message} size="sm">
          {toDisplayText(`${at === '' ? words.wholeInput : at} ${message}`)}
        </Text>
      ))}
    </Alert>
  )
}

function authenticationOf(type: string | undefined): 'api_key' | 'bearer' | undefined {
  if (type === 'api_key') return 'api_key'
  return type === 'oauth2_bearer' ? 'bearer' : undefined
}

function credentialOf(kind: 'api_key' | 'bearer' | undefined, secret: string): Credential | undefined {
  if (kind === undefined || secret === '') return undefined
  return kind === 'api_key' ? { type: 'api_key', key: secret } : { type: 'bearer', token: secret }
}

/** Focuses the field at a pointer, or the nearest one around it. */
function focusField(id: string): void {
  const around = [id]
  for (let at = id; at.includes('/'); ) {
    at = at.slice(0, at.lastIndexOf('/'))
    around.push(at)
  }
  around
    .map((each) => document.getElementById(each))
    .find((element) => element !== null)
    ?.focus()
}
