import { TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import type { Field } from '../schema/field.js'
import type { FieldProps } from './form-context.js'

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i

/** The number that was typed, or the text as it is if it is not a number, so that validation reports it. */
export function readNumber(text: string): number | string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return NUMBER.test(trimmed) ? Number(trimmed) : trimmed
}

/** A number. What is typed stays as it is while it means the same: `1.0` on the way to `1.05`. */
export function NumberField({
  field,
  shared,
  value,
  onChange,
}: FieldProps<Extract<Field, { kind: 'number' }>>): ReactNode {
  const [typed, setTyped] = useState('')
  const text = readNumber(typed) === value ? typed : value === undefined || value === null ? '' : String(value)
  return (
    <TextInput
      {...shared}
      inputMode={field.isInteger ? 'numeric' : 'decimal'}
      autoComplete="off"
      value={text}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value)
        onChange(readNumber(currentTarget.value))
      }}
    />
  )
}
