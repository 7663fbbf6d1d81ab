import { Textarea } from '@mantine/core'
import { type JsonValue, parseJson, sameJson } from '@switchboard/protocol/json'
import { type ReactNode, useState } from 'react'
import { strings } from '../../../strings.js'
import type { Field } from '../schema/field.js'
import { type FieldProps, useForm } from './form-context.js'

/** What a text in an editor means. */
export function readJsonText(text: string): { value: JsonValue | undefined } | { problem: string } {
  if (text.trim() === '') return { value: undefined }
  try {
    return { value: parseJson(text) }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * The text of a value that is edited as JSON, and what is wrong with it. The text stays as it was typed while it means the
 * value; a value that was changed elsewhere replaces it.
 */
export function useJsonText(
  value: JsonValue | undefined,
  onChange: (value: JsonValue | undefined) => void,
  onBroken: (isBroken: boolean) => void,
): { text: string; problem: string | undefined; edit: (text: string) => void } {
  const [typed, setTyped] = useState<{ text: string; for: JsonValue | undefined }>()
  const isCurrent = typed !== undefined && (typed.for === value || sameJson(typed.for, value))
  const text = isCurrent ? typed.text : value === undefined ? '' : JSON.stringify(value, null, 2)
  const read = isCurrent ? readJsonText(text) : undefined
  return {
    text,
    problem: read && 'problem' in read ? read.problem : undefined,
    edit(next) {
      const meaning = readJsonText(next)
      onBroken('problem' in meaning)
      setTyped({ text: next, for: 'problem' in meaning ? value : meaning.value })
      if (!('problem' in meaning)) onChange(meaning.value)
    },
  }
}

/** A value of any shape, as JSON. */
export function JsonField({ shared, value, onChange }: FieldProps<Extract<Field, { kind: 'json' }>>): ReactNode {
  const { onBroken } = useForm()
  const { text, problem, edit } = useJsonText(value, onChange, (isBroken) => onBroken(shared.id, isBroken))
  const error = problem ?? shared.error
  return (
    <Textarea
      {...shared}
      {...(error !== undefined && { error })}
      classNames={{ input: 'monospace' }}
      placeholder={strings.tryIt.jsonPlaceholder}
      autosize
      minRows={2}
      maxRows={12}
      spellCheck={false}
      value={text}
      onChange={({ currentTarget }) => edit(currentTarget.value)}
    />
  )
}
