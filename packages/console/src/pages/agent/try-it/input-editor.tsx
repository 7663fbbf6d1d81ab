import { Textarea } from '@mantine/core'
import { toDisplayText } from '@switchboard/client'
import type { JsonObject, JsonValue } from '@switchboard/protocol/json'
import { type ReactNode, useMemo } from 'react'
import { strings } from '../../../strings.js'
import { type FormContext, FormProvider } from './form-context.js'
import { fieldId, type InputIssue } from './issues.js'
import { useJsonText } from './json-field.js'
import { SchemaField } from './schema-field.js'

const { tryIt: words } = strings

export interface InputEditorProps {
  readonly schema: JsonObject
  /** As a form, or as JSON; both edit the same value. */
  readonly editor: 'form' | 'json'
  readonly value: JsonValue | undefined
  readonly onChange: (value: JsonValue | undefined) => void
  readonly issues: readonly InputIssue[]
  readonly prefix: string
  readonly label: string
  readonly onBroken: FormContext['onBroken']
}

/** Edits one input. */
export function InputEditor(props: InputEditorProps): ReactNode {
  const { schema, editor, value, onChange, issues, prefix, label, onBroken } = props
  const form = useMemo(
    () => ({
      root: schema,
      issues: new Map(issues.map(({ at, message }) => [at, toDisplayText(message)])),
      prefix,
      onBroken,
      Place: SchemaField,
    }),
    [schema, issues, prefix, onBroken],
  )
  if (editor === 'json') {
    return <RawEditor {...props} id={fieldId(prefix)} />
  }
  return (
    <FormProvider value={form}>
      <SchemaField place={schema} pointer="" label={label} isRequired value={value} onChange={onChange} />
    </FormProvider>
  )
}

interface RawEditorProps extends Pick<InputEditorProps, 'value' | 'onChange' | 'issues' | 'label' | 'onBroken'> {
  readonly id: string
}

function RawEditor({ value, onChange, issues, label, onBroken, id }: RawEditorProps): ReactNode {
  const { text, problem, edit } = useJsonText(value, onChange, (isBroken) => onBroken(id, isBroken))
  const error =
    problem ?? issues.map(({ at, message }) => toDisplayText(`${at || words.wholeInput} ${message}`)).join('; ')
  return (
    <Textarea
      id={id}
      label={label}
      {...(error !== '' && { error })}
      classNames={{ input: 'monospace' }}
      autosize
      minRows={8}
      maxRows={24}
      spellCheck={false}
      value={text}
      onChange={({ currentTarget }) => edit(currentTarget.value)}
    />
  )
}
