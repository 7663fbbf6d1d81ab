import { Alert, Badge, Button, Code, Group, Loader, Progress, Stack, Text, Title } from '@mantine/core'
import { ClientError, type Reply, toDisplayText } from '@switchboard/client'
import { readProgress } from '@switchboard/protocol/call'
import { asObjects, asString, isObject, type JsonValue } from '@switchboard/protocol/json'
import { type ReactNode, useEffect, useRef } from 'react'
import { CodeBlock } from '../../../parts/code-block.js'
import { messageOf } from '../../../parts/failure.js'
import { strings } from '../../../strings.js'
import { escapeDeceptive, toShownText } from '../shown-text.js'
import type { CallState } from './use-call.js'

const { tryIt: words } = strings

/** Characters of an output that are shown. */
const MAX_SHOWN = 1_000_000

/** What the agent responded, while it arrives and afterwards. It is untrusted: shown as text, never as anything else. */
export function Outcome({ state }: { readonly state: CallState }): ReactNode {
  const { phase, ms, reply, parts, error, task } = state
  if (phase === 'idle') return null
  return (
    <Stack gap="sm" component="section" aria-label={words.result}>
      <Group gap="xs">
        <Title order={2} size="h4">
          {words.result}
        </Title>
        <div role="status">
          <Summary state={state} />
        </div>
        {ms !== undefined && (
          <Text size="sm" c="dimmed">
            {words.took(ms)}
          </Text>
        )}
      </Group>
      {phase === 'running' && task !== undefined && <TaskProgress task={task} />}
      {parts.length > 0 && <Parts parts={parts} />}
      {reply && <Answer reply={reply} isBatch={state.mode === 'batch'} />}
      {phase === 'failed' && <CallFailure error={error} />}
    </Stack>
  )
}

function Summary({ state: { phase, mode, reply, partCount, error } }: { readonly state: CallState }): ReactNode {
  switch (phase) {
    case 'running':
      return (
        <Group gap={6}>
          <Loader size="xs" aria-hidden />
          <Text size="sm">{mode === 'stream' && partCount > 0 ? words.streaming(partCount) : words.running}</Text>
        </Group>
      )
    case 'done':
      return (
        <Badge variant="light" color="teal" tt="none">
          {reply ? words.succeeded(reply.status) : words.streamed(partCount)}
        </Badge>
      )
    case 'failed':
      return (
        <Badge variant="light" color="red" tt="none">
          {words.failed(error instanceof ClientError ? String(error.status ?? error.code) : '')}
        </Badge>
      )
    default:
      return (
        <Badge variant="light" color="gray" tt="none">
          {words.stopped}
        </Badge>
      )
  }
}

/** How far a deferred call is, as far as the agent says so. */
function TaskProgress({ task }: { readonly task: JsonValue }): ReactNode {
  const status = isObject(task) ? (asString(task.status) ?? '') : ''
  const progress = readProgress(task)
  const text = progress?.message === undefined ? (words.taskStates[status] ?? status) : progress.message
  return (
    <Stack gap={4}>
      <Text size="sm">{toDisplayText(text)}</Text>
      <Progress
        value={progress ? progress.fraction * 100 : 100}
        animated
        striped={!progress}
        aria-label={words.taskProgress}
      />
    </Stack>
  )
}

/** The parts of a stream, one per line. Follows the end as long as nobody scrolls up. */
function Parts({ parts }: { readonly parts: readonly string[] }): ReactNode {
  const box = useRef<HTMLPreElement>(null)
  const isAtEnd = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when parts arrive.
  useEffect(() => {
    if (box.current && isAtEnd.current) box.current.scrollTop = box.current.scrollHeight
  }, [parts])
  return (
    <>
      <Code
        block
        ref={box}
        tabIndex={0}
        role="region"
        aria-label={strings.schema.output}
        mah={420}
        style={{ overflow: 'auto', whiteSpace: 'pre-wrap' }}
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 8
        }}
      >
        {parts.map(escapeDeceptive).join('\n')}
      </Code>
      <Untrusted />
    </>
  )
}

function Answer({ reply, isBatch }: { readonly reply: Reply; readonly isBatch: boolean }): ReactNode {
  const { output, contentType, outputValid } = reply
  return (
    <>
      {outputValid === false && <Alert color="orange" title={words.outputInvalid} role="note" />}
      {output instanceof Uint8Array ? (
        <Bytes bytes={output} type={contentType} />
      ) : isBatch && Array.isArray(output) ? (
        <Stack gap="xs">
          {output.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: results are known by their position.
            <BatchItem key={index} item={item} number={index + 1} />
          ))}
        </Stack>
      ) : (
        <Output value={output} label={strings.schema.output} />
      )}
      <Untrusted />
    </>
  )
}

function BatchItem({ item, number }: { readonly item: JsonValue; readonly number: number }): ReactNode {
  const error = isObject(item) && isObject(item.error) ? item.error : undefined
  return (
    <Stack gap={4}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {words.itemResult(number)}
        </Text>
        {error && (
          <Badge variant="light" color="red" tt="none">
            {words.failed(toDisplayText(asString(error.code) ?? ''))}
          </Badge>
        )}
      </Group>
      <Output value={item} label={words.itemResult(number)} />
    </Stack>
  )
}

function Output({ value, label }: { readonly value: JsonValue; readonly label: string }): ReactNode {
  const text = toShownText(value)
  if (text.length <= MAX_SHOWN) return <CodeBlock text={text} label={label} />
  return (
    <Stack gap="xs">
      <CodeBlock text={text.slice(0, MAX_SHOWN)} label={label} />
      <Group gap="xs">
        <Text size="sm">{words.cut(MAX_SHOWN / 1_000_000)}</Text>
        <Download content={JSON.stringify(value)} type="application/json" />
      </Group>
    </Stack>
  )
}

/** An output that is not JSON, such as an image, can only be saved. */
function Bytes({ bytes, type }: { readonly bytes: Uint8Array; readonly type: string }): ReactNode {
  return (
    <Group gap="xs">
      <Text size="sm">{words.file(toDisplayText(type), bytes.byteLength)}</Text>
      <Download content={new Uint8Array(bytes)} type="application/octet-stream" />
    </Group>
  )
}

function Download({ content, type }: { readonly content: BlobPart; readonly type: string }): ReactNode {
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([content], { type }))
    const link = Object.assign(document.createElement('a'), { href: url, download: 'output' })
    link.click()
    setTimeout(() => URL.revokeObjectURL(url))
  }
  return (
    <Button variant="light" size="xs" onClick={save}>
      {words.download}
    </Button>
  )
}

const Untrusted = (): ReactNode => (
  <Text size="xs" c="dimmed">
    {words.untrusted}
  </Text>
)

function CallFailure({ error }: { readonly error: unknown }): ReactNode {
  const details = error instanceof ClientError && isDescribed(error.details) ? error.details : undefined
  return (
    <>
      <Alert color="red" title={strings.common.failed} role="alert">
        {toDisplayText(messageOf(error))}
      </Alert>
      {details && <Output value={details} label={strings.schema.output} />}
    </>
  )
}

/** Whether the body says more than the message, such as the results of a batch that failed altogether. */
const isDescribed = (details: unknown): details is JsonValue[] =>
  Array.isArray(details) && asObjects(details).length > 0
