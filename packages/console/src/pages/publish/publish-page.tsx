import {
  Alert,
  Anchor,
  Button,
  FileButton,
  Group,
  List,
  Select,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { addressOf } from '../../app/address.js'
import { RequestError } from '../../app/api.js'
import { useSession } from '../../app/session.js'
import { useLoad } from '../../app/use-load.js'
import { Failure } from '../../parts/failure.js'
import { strings } from '../../strings.js'
import { type Check, checkText, toProblems } from './check-document.js'
import { CheckResult } from './check-result.js'
import { EXAMPLES } from './examples.js'
import { readStored, registerDocument } from './register-document.js'

const texts = strings.publish

/** Milliseconds without a key press after which a document is checked. */
const PAUSE_MS = 400

/** Publishes a document of any draft, or edits one of the caller's agents; checks it while it is written. */
export function PublishPage(): ReactNode {
  const session = useSession()
  const [params] = useSearchParams()
  const [, open] = useLocation()
  const edited = params.get('agent')
  const [text, setText] = useState('')
  const [id, setId] = useState('')
  const [failure, setFailure] = useState<unknown>()
  const [refusal, setRefusal] = useState<Check>()
  const [isSending, setSending] = useState(false)

  const stored = useLoad(edited ?? '', async (signal) =>
    edited === null ? undefined : readStored(edited, params.get('format') ?? 'aidip', signal),
  )
  useEffect(() => {
    if (stored.value) setText(stored.value.text)
  }, [stored.value])

  const mayPublish = session.can('publish')
  const [[sentText, sentId]] = useDebouncedValue([text, id] as const, PAUSE_MS)
  const checked = useLoad(JSON.stringify([sentText, sentId, mayPublish]), (signal) =>
    mayPublish ? checkText(sentText, sentId.trim(), signal) : Promise.resolve<Check>({ state: 'empty' }),
  )
  const isCurrent = sentText === text && sentId === id && !checked.isLoading
  const check = refusal ?? checked.value

  const change = (next: string): void => {
    setText(next)
    setRefusal(undefined)
    setFailure(undefined)
  }
  const publish = async (): Promise<void> => {
    if (check?.state !== 'right') return
    setSending(true)
    try {
      open(addressOf.agent(await registerDocument(check.document, { ...check, tag: stored.value?.tag })))
    } catch (error) {
      if (error instanceof RequestError) setRefusal(toProblems(error))
      else setFailure(error)
    } finally {
      setSending(false)
    }
  }

  return (
    <Stack>
      <Title order={1}>{edited === null ? texts.title : texts.editTitle(edited)}</Title>
      <Text>{texts.introduction}</Text>
      {session.isKnown && !mayPublish && (
        <Alert color="yellow" title={texts.signInTitle}>
          {session.subject === undefined ? texts.signInText : texts.noScope}{' '}
          {session.subject === undefined && (
            <Anchor component={Link} href={addressOf.signIn(addressOf.publish())} inherit>
              {strings.navigation.signIn}
            </Anchor>
          )}
        </Alert>
      )}
      {stored.error !== undefined && <Failure error={stored.error} onRetry={stored.reload} />}
      <Group align="end">
        <Select
          label={texts.exampleLabel}
          placeholder={texts.examplePlaceholder}
          data={Object.keys(EXAMPLES)}
          value={null}
          onChange={(name) => name !== null && change(JSON.stringify(EXAMPLES[name], null, 2))}
        />
        <FileButton accept="application/json,.json" onChange={(file) => void file?.text().then(change, setFailure)}>
          {(props) => (
            <Button variant="default" {...props}>
              {texts.upload}
            </Button>
          )}
        </FileButton>
      </Group>
      <Textarea
        label={texts.document}
        description={texts.documentHint}
        value={text}
        onChange={({ currentTarget }) => change(currentTarget.value)}
        autosize
        minRows={12}
        maxRows={30}
        spellCheck={false}
        error={check?.state === 'wrong' ? texts.hasProblems(check.problems.length) : undefined}
        styles={{
          input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 'var(--mantine-font-size-sm)' },
        }}
      />
      <TextInput
        label={texts.id}
        description={texts.idHint}
        value={id}
        onChange={({ currentTarget }) => setId(currentTarget.value)}
        spellCheck={false}
      />
      {checked.error !== undefined && <Failure error={checked.error} onRetry={checked.reload} />}
      {failure !== undefined && <Failure error={failure} />}
      {check && <CheckResult check={check} />}
      <Group>
        <Button onClick={() => void publish()} loading={isSending} disabled={check?.state !== 'right' || !isCurrent}>
          {check?.state === 'right' && check.effect !== 'create' ? texts.update : texts.publish}
        </Button>
      </Group>
      <List size="sm" c="dimmed">
        <List.Item>{texts.hintKit}</List.Item>
        <List.Item>{texts.hintCli}</List.Item>
      </List>
    </Stack>
  )
}
