import { Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { toDisplayText } from '@switchboard/client/discovery'
import { asString, isObject, type JsonValue, sameJson } from '@switchboard/protocol/json'
import { type ReactNode, useMemo } from 'react'
import { strings } from '../../../strings.js'
import { type Field, toField } from '../schema/field.js'
import { describeLimits } from '../schema/schema-rows.js'
import { ArrayField } from './array-field.js'
import { ChoiceField } from './choice-field.js'
import { FileField } from './file-field.js'
import { type FieldProps, type PlaceProps, useForm } from './form-context.js'
import { fieldId } from './issues.js'
import { JsonField } from './json-field.js'
import { NumberField } from './number-field.js'
import { ObjectField } from './object-field.js'

const { tryIt: words } = strings

/** The field that fits a place of the schema. */
export function SchemaField(props: PlaceProps): ReactNode {
  const { place, pointer, label, isRequired } = props
  const { root, issues, prefix } = useForm()
  const field = useMemo(() => toField(place, root), [place, root])
  const { kind } = field
  const { description, title } = field.schema
  const about = [asString(description) ?? (title === label ? '' : asString(title)) ?? '', ...limitsOf(field)]
    .filter((text) => text !== '')
    .map(toDisplayText)
    .join(' · ')
  const error = issues.get(pointer)
  const shared = {
    id: fieldId(prefix + pointer),
    label: toDisplayText(label),
    ...(about !== '' && { description: about }),
    ...(error !== undefined && { error }),
    withAsterisk: isRequired,
  }
  if (kind === 'object') return <ObjectField {...props} field={field} shared={shared} />
  if (kind === 'array') return <ArrayField {...props} field={field} shared={shared} />
  if (kind === 'choice') return <ChoiceField {...props} field={field} shared={shared} />
  if (kind === 'file') return <FileField {...props} field={field} shared={shared} />
  if (kind === 'number') return <NumberField {...props} field={field} shared={shared} />
  if (kind === 'json') return <JsonField {...props} field={field} shared={shared} />
  return <PlainField {...props} field={field} shared={shared} />
}

/** Limits that the field does not show by itself. */
const limitsOf = (field: Field): string[] =>
  field.kind === 'enum' || field.kind === 'constant' ? [] : describeLimits(field)

type PlainKind = Extract<Field, { kind: 'enum' | 'constant' | 'boolean' | 'text' }>

function PlainField({ field, shared, isRequired, value, onChange }: FieldProps<PlainKind>): ReactNode {
  switch (field.kind) {
    case 'constant':
      return <TextInput {...shared} value={textOf(field.value)} readOnly variant="filled" />
    case 'enum': {
      const index = field.options.findIndex((option) => sameJson(option.value, value))
      return (
        <NativeSelect
          {...shared}
          value={String(index)}
          onChange={({ currentTarget }) => onChange(field.options[Number(currentTarget.value)]?.value)}
          data={[
            { value: '-1', label: isRequired ? words.choose : words.notSet },
            ...field.options.map(({ label }, at) => ({ value: String(at), label: toDisplayText(label) })),
          ]}
        />
      )
    }
    case 'boolean':
      return isRequired ? (
        <Checkbox
          id={shared.id}
          label={shared.label}
          description={shared.description}
          error={shared.error}
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
      ) : (
        <NativeSelect
          {...shared}
          value={typeof value === 'boolean' ? String(value) : ''}
          onChange={({ currentTarget }) =>
            onChange(currentTarget.value === '' ? undefined : currentTarget.value === 'true')
          }
          data={[
            { value: '', label: words.notSet },
            { value: 'true', label: words.yes },
            { value: 'false', label: words.no },
          ]}
        />
      )
    case 'text': {
      const text = value === undefined || value === null ? '' : textOf(value)
      const change = (entered: string): void => onChange(entered === '' ? undefined : entered)
      return field.rows > 0 ? (
        <Textarea
          {...shared}
          value={text}
          autosize
          minRows={field.rows}
          maxRows={12}
          onChange={(e) => change(e.currentTarget.value)}
        />
      ) : (
        <TextInput
          {...shared}
          type={field.inputType}
          autoComplete="off"
          value={text}
          onChange={(e) => change(e.currentTarget.value)}
        />
      )
    }
  }
}

const textOf = (value: JsonValue): string =>
  typeof value === 'string' ? value : isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value)
