import { Fieldset, Input, NativeSelect, Stack, Text } from '@mantine/core'
import { toDisplayText } from '@switchboard/client/discovery'
import { type ReactNode, useMemo, useState } from 'react'
import { strings } from '../../../strings.js'
import type { Field } from '../schema/field.js'
import { initialValue } from '../schema/initial-value.js'
import { type FieldProps, FormProvider, useForm } from './form-context.js'
import { checkPart, fits } from './issues.js'

const NONE = -1

/** A value that may have one of several shapes: choose one, then fill it in. */
export function ChoiceField(props: FieldProps<Extract<Field, { kind: 'choice' }>>): ReactNode {
  const { field, pointer, shared, isRequired, value, onChange } = props
  const form = useForm()
  const { root, issues } = form
  const [chosen, setChosen] = useState(() => {
    if (value === undefined) return isRequired ? 0 : NONE
    return Math.max(
      0,
      field.alternatives.findIndex(({ schema }) => fits(schema, root, value)),
    )
  })
  const index = value === undefined && !isRequired ? NONE : chosen
  const alternative = field.alternatives[index]
  // The check of the whole says only that no alternative fits; what is wrong inside is found with the chosen one.
  const inner = useMemo(() => {
    if (!alternative || !issues.has(pointer) || value === undefined) return form
    const found = checkPart(alternative.schema, root, value).map(({ at, message }) => [pointer + at, message] as const)
    const others = [...issues].filter(([at]) => at !== pointer)
    return { ...form, issues: new Map([...others, ...found]) }
  }, [alternative, issues, pointer, value, root, form])
  const isExplained = inner !== form && [...inner.issues.keys()].some((at) => at.startsWith(`${pointer}/`))
  return (
    <Fieldset legend={shared.label + (isRequired ? ' *' : '')}>
      <Stack gap="sm">
        {shared.description && (
          <Text size="xs" c="dimmed">
            {shared.description}
          </Text>
        )}
        <NativeSelect
          id={shared.id}
          aria-label={strings.tryIt.shapeOf(shared.label)}
          value={String(index)}
          onChange={({ currentTarget }) => {
            const next = Number(currentTarget.value)
            setChosen(next)
            onChange(initialValue(field.alternatives[next]?.schema, root))
          }}
          data={[
            ...(isRequired ? [] : [{ value: String(NONE), label: strings.tryIt.notSet }]),
            ...field.alternatives.map(({ label }, at) => ({ value: String(at), label: toDisplayText(label) })),
          ]}
        />
        {alternative && (
          <FormProvider value={inner}>
            <form.Place
              place={alternative.schema}
              pointer={pointer}
              label={alternative.label}
              isRequired
              value={value}
              onChange={onChange}
            />
          </FormProvider>
        )}
        {shared.error && !isExplained && <Input.Error>{shared.error}</Input.Error>}
      </Stack>
    </Fieldset>
  )
}
